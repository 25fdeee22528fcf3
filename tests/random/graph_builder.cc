#include "tests/random/graph_builder.h"

#include <fstream>
#include <optional>
#include <variant>

#include "tests/random/jitter.h"
#include "tests/random/own_ops.h"
#include "tests/random/payload.h"

namespace random_graphs {

using model::Kind;
using model::Op;

namespace {

using Numbers = std::vector<std::int64_t>;
using Names = std::vector<std::string>;
using AnyDataset = std::variant<ps::Dataset<std::int64_t>, ps::Dataset<std::string>,
                                ps::Dataset<Numbers>, ps::Dataset<Names>, ps::Dataset<Value>>;

ps::Tunable tunable(const How& how) {
  return how.parallelism == 0 ? ps::AUTOTUNE : ps::Tunable(how.parallelism);
}

ps::Order order_of(const Op& op) { return op.arbitrary ? ps::Order::arbitrary : ps::Order::kept; }

ps::MapOptions map_options(const Op& op, const How& how) {
  ps::MapOptions options{.order = order_of(op)};
  if (how.blocks >= 0) options.blocks = how.blocks == 1;
  return options;
}

// ------------------------------------------------------------------------------------------------
// sources

AnyDataset from_vector(const Op& op) {
  std::vector<Value> values;
  for (std::int64_t i = 0; i < op.count; ++i) values.push_back(model::source_value(op, i));
  return ps::from_vector(std::move(values));
}

// Copyable: each pass begins with a copy.
struct Counter {
  Op op;
  How how;
  ps::Pass pass;
  std::int64_t i = 0;

  std::optional<Value> operator()() {
    if (i == op.count) return std::nullopt;
    Value value = model::source_value(op, i);
    if (op.stamped)
      value = model::affine(value, 1, model::stamp_number({pass.epoch, pass.pass, i}));
    ++i;
    if (op.fails.holds(value)) throw_fault(how, value);
    return value;
  }
};

AnyDataset from_generator(const Op& op, const How& how) {
  if (!how.as_factory) return ps::from_generator(Counter{op, how, {}});
  return ps::from_generator([op, how](ps::Pass pass) {
    const Value number = model::number(pass.epoch + pass.pass);
    if (op.fails_passes.holds(number)) throw_fault(how, number);
    return Counter{op, how, pass};
  });
}

AnyDataset from_file_list(const Op& op, const Workbench& bench) {
  const std::string list = bench.folder + "/list.txt";
  std::ofstream stream(list);
  for (std::int64_t i = 0; i < op.count; ++i)
    stream << "  images/" << model::source_value(op, i).number << ".jpg\n\n";
  stream.close();
  return ps::from_file_list(list);
}

AnyDataset source(const Op& op, const How& how, const Workbench& bench) {
  switch (op.kind) {
    case Kind::range:
      return ps::range(op.first, op.first + op.count * op.step, op.step);
    case Kind::from_vector:
      return from_vector(op);
    case Kind::from_generator:
      return from_generator(op, how);
    default:
      return from_file_list(op, bench);
  }
}

// ------------------------------------------------------------------------------------------------
// functions

Value mapped(const Op& op, const How& how, Value value, const model::Origin& origin) {
  jitter(how, model::key(value));
  if (op.fails.holds(value)) throw_fault(how, value);
  return model::affine(std::move(value), op.step,
                       op.first + (op.stamped ? model::stamp_number(origin) : 0));
}

template <class T>
AnyDataset map(const ps::Dataset<T>& in, const Op& op, const How& how) {
  if (!how.with_context)
    return in.map([op, how](T x) { return mapped(op, how, value_of(std::move(x)), {}); },
                  tunable(how), map_options(op, how));
  return in.map(
      [op, how](const T& x, ps::Context& context) {
        if (how.reserves > 0) context.reserve(static_cast<std::size_t>(how.reserves));
        return mapped(op, how, value_of(x), origin_of(context.stamp()));
      },
      tunable(how), map_options(op, how));
}

template <class T>
AnyDataset filter(const ps::Dataset<T>& in, const Op& op, const How& how) {
  return in.filter(
      [op, how](const T& x) {
        const Value value = value_of(x);
        jitter(how, model::key(value));
        if (op.fails.holds(value)) throw_fault(how, value);
        return op.keeps.holds(value);
      },
      {.parallelism = tunable(how), .order = order_of(op)});
}

template <class T>
std::vector<Value> children_of(const Op& op, const How& how, T x) {
  const Value value = value_of(std::move(x));
  jitter(how, model::key(value));
  if (op.fails.holds(value)) throw_fault(how, value);
  return model::children(op, value);
}

template <class T>
AnyDataset flat_map(const ps::Dataset<T>& in, const Op& op, const How& how) {
  if (!how.as_dataset)
    return in.flat_map([op, how](T x) { return children_of(op, how, std::move(x)); }, tunable(how),
                       map_options(op, how));
  return in.flat_map(
      [op, how](T x) { return ps::from_vector(children_of(op, how, std::move(x))).prefetch(2); },
      tunable(how), map_options(op, how));
}

template <class T>
AnyDataset unbatch(const ps::Dataset<T>& in) {
  if constexpr (ps::Unbatchable<T>) return in.unbatch();
  throw std::logic_error("drawn: unbatch of numbers");
}

template <class T>
AnyDataset batch(const ps::Dataset<T>& in, const Op& op) {
  if constexpr (std::is_same_v<T, Numbers> || std::is_same_v<T, Names>)
    throw std::logic_error("drawn: batch of a batch");
  else
    return in.batch(op.count, {.drop_remainder = op.drop_remainder});
}

template <class T>
AnyDataset own(const ps::Dataset<T>& in, const Op& op, const How& how, const Workbench& bench) {
  if (op.kind == Kind::own_stream)
    return in.template then<Value>(std::make_shared<OwnStream<T>>(op, how));
  if (op.kind == Kind::own_async)
    return in.template then<Value>(std::make_shared<OwnAsync<T>>(op, how, bench.courier));
  return in.template then<Value>(std::make_shared<OwnElementwise<T>>(op, how));
}

// ------------------------------------------------------------------------------------------------
// all

template <class T>
AnyDataset append(const ps::Dataset<T>& in, const Op& op, const How& how, const Workbench& bench) {
  switch (op.kind) {
    case Kind::shard:
      return in.shard(op.count, op.index);
    case Kind::shuffle:
      return in.shuffle(op.count, {.seed = how.seed, .reshuffle_each_epoch = how.reshuffle});
    case Kind::repeat:
      return in.repeat(op.count);
    case Kind::take:
      return in.take(op.count);
    case Kind::skip:
      return in.skip(op.count);
    case Kind::batch:
      return batch(in, op);
    case Kind::prefetch:
      return in.prefetch(how.parallelism == 8 ? ps::AUTOTUNE : ps::Tunable(how.parallelism));
    case Kind::ignore_errors:
      return in.ignore_errors();
    case Kind::map:
      return map(in, op, how);
    case Kind::filter:
      return filter(in, op, how);
    case Kind::flat_map:
      return flat_map(in, op, how);
    case Kind::unbatch:
      return unbatch(in);
    default:
      return own(in, op, how, bench);
  }
}

AnyDataset append(const AnyDataset& any, const Op& op, const How& how, const Workbench& bench) {
  return std::visit(
      [&](const auto& in) -> AnyDataset {
        using In = std::decay_t<decltype(in)>;
        if (!how.applied) return append(in, op, how, bench);
        return in.apply([&](const In& dataset) { return append(dataset, op, how, bench); });
      },
      any);
}

AnyDataset recorded(const AnyDataset& any, const Op& source, model::Tape& tape) {
  return std::visit(
      [&]<class T>(const ps::Dataset<T>& in) -> AnyDataset {
        return in.template then<T>(std::make_shared<Recorder<T>>(tape, source));
      },
      any);
}

}  // namespace

std::string Workbench::path(const Op& op, std::int64_t i) const {
  return folder + "/images/" + std::to_string(model::source_value(op, i).number) + ".jpg";
}

Built build_graph(const Graph& graph, const Workbench& bench, std::vector<model::Tape>* tapes) {
  AnyDataset any = source(graph.ops[0], graph.how[0], bench);
  if (tapes != nullptr) tapes->assign(graph.ops.size(), {});
  bool arbitrary = false;
  for (std::size_t i = 1; i < graph.ops.size(); ++i) {
    arbitrary = arbitrary || graph.ops[i].arbitrary;
    any = append(any, graph.ops[i], graph.how[i], bench);
    if (tapes != nullptr && graph.ops[i].kind == Kind::shuffle && !arbitrary)
      any = recorded(any, graph.ops[0], (*tapes)[i]);
  }
  return std::visit(
      []<class T>(const ps::Dataset<T>& dataset) {
        return Built{dataset.node(),
                     [](ps::Element& element) { return value_of(element.take<T>()); }};
      },
      any);
}

}  // namespace random_graphs
