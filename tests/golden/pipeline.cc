#include "tests/golden/pipeline.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <tuple>
#include <utility>

namespace golden {

namespace ps = penstock;
using nlohmann::json;
using Rows = ps::Dataset<Row>;

namespace {

std::int64_t number(const json& op, const char* parameter) { return op.at(parameter).get<std::int64_t>(); }

// Never negative for m > 0.
std::int64_t floor_mod(std::int64_t x, std::int64_t m) { return (x % m + m) % m; }

Row row_of(std::int64_t value) { return {{ps::Tensor::scalar(value)}}; }

// The number that the row holds, of the first component if there are several.
std::int64_t value_of(const Row& row) {
  const std::span<const std::int64_t> values = row.components.at(0).values<std::int64_t>();
  if (values.size() != 1) throw std::invalid_argument("this op needs elements that are numbers");
  return values[0];
}

template <class F> ps::Tensor transformed(const ps::Tensor& from, F f) {
  ps::Tensor to(ps::DType::i64, from.shape());
  std::ranges::transform(from.values<std::int64_t>(), to.values<std::int64_t>().begin(), f);
  return to;
}

// f(x) for every number of every component.
template <class F> auto for_each_number(F f) {
  return [f](const Row& row) {
    Row result;
    for (const ps::Tensor& component : row.components) result.components.push_back(transformed(component, f));
    return result;
  };
}

ps::Tensor copies(std::int64_t value, std::int64_t count) {
  ps::Tensor vector(ps::DType::i64, {count});
  std::ranges::fill(vector.values<std::int64_t>(), value);
  return vector;
}

// ---------------------------------------------------------------------------------- ops

ps::Tunable calls_of(const json& op) { return op.contains("calls") ? ps::Tunable(number(op, "calls")) : ps::AUTOTUNE; }

Rows affine(const Rows& in, const json& op) {
  const auto mul = number(op, "mul"), add = number(op, "add");
  return in.map(for_each_number([=](std::int64_t x) { return mul * x + add; }), calls_of(op),
                {.keeps_leading_dimension = true});
}

Rows fill(const Rows& in, const json& op) {
  const auto mod = number(op, "mod"), add = number(op, "add");
  return in.map([=](const Row& x) { return Row{{copies(value_of(x), floor_mod(value_of(x), mod) + add)}}; });
}

Rows map(const Rows& in, const json& op) {
  const std::string fn = op.at("fn");
  if (fn == "affine") return affine(in, op);
  if (fn == "fill") return fill(in, op);
  throw Unsupported("map function '" + fn + "' is not built yet");
}

Rows mod(const Rows& in, const json& op) {
  return in.map(for_each_number([m = number(op, "mod")](std::int64_t x) { return floor_mod(x, m); }), ps::AUTOTUNE,
                {.keeps_leading_dimension = true});
}

auto has_remainder(const json& op) {
  return
      [mod = number(op, "mod"), rem = number(op, "rem")](const Row& x) { return floor_mod(value_of(x), mod) == rem; };
}

Rows filter(const Rows& in, const json& op) { return in.filter(has_remainder(op)); }

Rows fail(const Rows& in, const json& op) {
  return in.map([fails = has_remainder(op)](Row x) {
    if (fails(x)) throw ps::Error(ps::ErrorCode::invalid_argument, "fails on " + std::to_string(value_of(x)));
    return x;
  });
}

// Calls `method` with the function that makes a dataset of a row.
template <class Method> Rows with_datasets(const json& op, Method&& method) {
  const std::string fn = op.at("fn");
  if (fn == "repeat")
    return method([n = number(op, "times")](Row x) { return ps::from_vector(std::vector{std::move(x)}).repeat(n); });
  if (fn == "count")
    return method([m = number(op, "mod")](const Row& x) {
      return ps::range(value_of(x), value_of(x) + floor_mod(value_of(x), m)).map(row_of);
    });
  if (fn == "rows") return method([](Row x) { return ps::from_vector(std::vector{std::move(x)}).unbatch(); });
  throw Unsupported("function '" + fn + "' is not built yet");
}

Rows flat_map(const Rows& in, const json& op) {
  return with_datasets(op, [&](auto function) { return in.flat_map(std::move(function)); });
}

Rows interleave(const Rows& in, const json& op) {
  const ps::InterleaveOptions options{
      .cycle_length = number(op, "cycle"), .block_length = number(op, "block"), .parallelism = calls_of(op)};
  return with_datasets(op, [&](auto function) { return in.interleave(std::move(function), options); });
}

Rows batch(const Rows& in, const json& op) {
  return in.batch(number(op, "n"), {.drop_remainder = op.at("drop").get<bool>()});
}

Rows padded_batch(const Rows& in, const json& op) {
  const json& length = op.at("length");
  return in.padded_batch(number(op, "n"), {.padded_shapes = {length.is_null() ? ps::LONGEST : number(op, "length")},
                                           .padding_values = number(op, "pad"),
                                           .drop_remainder = op.at("drop").get<bool>()});
}

Rows shuffle(const Rows& in, const json& op, std::optional<std::uint64_t> global_seed) {
  return in.shuffle(number(op, "buffer"), {.seed = op.at("seed").get<std::uint64_t>(),
                                           .reshuffle_each_epoch = op.at("reshuffle").get<bool>(),
                                           .order = ps::ShuffleOrder::tensorflow,
                                           .global_seed = global_seed});
}

// What tf.data's windows become by flat_map(batch).
Row stacked(std::vector<Row> rows) {
  RowBuilder builder(rows.size());
  for (Row& row : rows) {
    builder.check(row);
    builder.add(std::move(row));
  }
  return builder.finish();
}

ps::WindowOptions window_options(const json& op) {
  return {.shift = number(op, "shift"), .stride = number(op, "stride"), .drop_remainder = op.at("drop").get<bool>()};
}

Rows window(const Rows& in, const json& op) { return in.window(number(op, "size"), window_options(op)).map(stacked); }

Rows group_by_window(const Rows& in, const json& op) {
  const auto key = [mod = number(op, "mod")](const Row& row) { return floor_mod(value_of(row), mod); };
  return in.group_by_window(key, number(op, "size")).map(stacked);
}

Rows rebatch(const Rows& in, const json& op) {
  const json& sizes = op.at("sizes");
  const ps::BatchOptions options{.drop_remainder = op.at("drop").get<bool>()};
  if (sizes.is_number()) return in.rebatch(sizes.get<std::int64_t>(), options);
  return in.rebatch(sizes.get<std::vector<std::int64_t>>(), options);
}

// Components one after the other, the number first.
Rows enumerate(const Rows& in, const json& op) {
  return in.enumerate(number(op, "start")).map([](std::tuple<std::int64_t, Row> pair) {
    auto& [position, row] = pair;
    row.components.insert(row.components.begin(), ps::Tensor::scalar(position));
    return std::move(row);
  });
}

Rows take_while(const Rows& in, const json& op) {
  return in.take_while([limit = number(op, "less")](const Row& row) { return value_of(row) < limit; });
}

std::vector<Rows> pipelines(const json& list) {
  std::vector<Rows> all;
  for (const json& ops : list) all.push_back(build_pipeline(ops));
  return all;
}

// Components one after the other.
Rows zip(const Rows& in, const json& op) {
  Rows all = in;
  for (const Rows& other : pipelines(op.at("with"))) {
    all = ps::zip(all, other).map([](std::tuple<Row, Row> pair) {
      auto& [row, more] = pair;
      std::ranges::move(more.components, std::back_inserter(row.components));
      return std::move(row);
    });
  }
  return all;
}

Rows concatenate(const Rows& in, const json& op) { return in.concatenate(build_pipeline(op.at("with"))); }

Rows choose(const json& op) {
  const auto choice = build_pipeline(op.at("choice")).map(value_of);
  return ps::choose_from(pipelines(op.at("from")), choice, {.stop_on_empty = op.at("stop_on_empty").get<bool>()});
}

Rows sample(const json& op) {
  std::vector<double> weights;
  if (!op.at("weights").is_null()) weights = op["weights"].get<std::vector<double>>();
  return ps::sample_from(pipelines(op.at("from")), {.weights = std::move(weights),
                                                    .seed = op.at("seed").get<std::uint64_t>(),
                                                    .stop_on_empty = op.at("stop_on_empty").get<bool>()});
}

using Step = Rows (*)(const Rows&, const json&);

const std::map<std::string, Step>& steps() {
  static const std::map<std::string, Step> table{
      {"batch", batch},
      {"cache", [](const Rows& in, const json&) { return in.cache(); }},
      {"concatenate", concatenate},
      {"enumerate", enumerate},
      {"fail", fail},
      {"filter", filter},
      {"flat_map", flat_map},
      {"interleave", interleave},
      {"group_by_window", group_by_window},
      {"ignore_errors", [](const Rows& in, const json&) { return in.ignore_errors(); }},
      {"map", map},
      {"mod", mod},
      {"padded_batch", padded_batch},
      {"prefetch", [](const Rows& in, const json& op) { return in.prefetch(number(op, "n")); }},
      {"rebatch", rebatch},
      {"repeat", [](const Rows& in, const json& op) { return in.repeat(number(op, "n")); }},
      {"shard", [](const Rows& in, const json& op) { return in.shard(number(op, "num"), number(op, "index")); }},
      {"skip", [](const Rows& in, const json& op) { return in.skip(number(op, "n")); }},
      {"take", [](const Rows& in, const json& op) { return in.take(number(op, "n")); }},
      {"take_while", take_while},
      {"unbatch", [](const Rows& in, const json&) { return in.unbatch(); }},
      {"unique", [](const Rows& in, const json&) { return in.unique(); }},
      {"window", window},
      {"windows", window},  // of which only the cardinality is asked
      {"zip", zip},
  };
  return table;
}

[[noreturn]] void refuse_op(const std::string& op) { throw Unsupported("op '" + op + "' is not built yet"); }

Rows source(const json& op) {
  const std::string name = op.at("op");
  if (name == "choose") return choose(op);
  if (name == "sample") return sample(op);
  if (name != "range") refuse_op(name);
  return ps::range(number(op, "start"), number(op, "stop"), number(op, "step")).map(row_of);
}

Rows step(const Rows& in, const json& op, std::optional<std::uint64_t> global_seed) {
  const std::string name = op.at("op");
  if (name == "shuffle") return shuffle(in, op, global_seed);
  const auto found = steps().find(name);
  if (found == steps().end()) refuse_op(name);
  return found->second(in, op);
}

json nested_lists(const ps::Tensor& tensor) {
  if (tensor.rank() == 0) return tensor.values<std::int64_t>()[0];
  json list = json::array();
  for (std::int64_t i = 0; i < tensor.shape().front(); ++i) list.push_back(nested_lists(tensor.row(i)));
  return list;
}

}  // namespace

Rows build_pipeline(const json& ops, std::optional<std::uint64_t> global_seed) {
  Rows rows = source(ops.at(0));
  for (std::size_t i = 1; i < ops.size(); ++i) rows = step(rows, ops[i], global_seed);
  return rows;
}

json to_json(const Row& row) {
  json components = json::array();
  for (const ps::Tensor& component : row.components) components.push_back(nested_lists(component));
  return components;
}

}  // namespace golden
