#include "tests/random/graph_generator.h"

#include <algorithm>
#include <utility>

#include "tests/random/random.h"

namespace random_graphs {

using model::Kind;
using model::Op;

namespace {

// Bytes that no budget of these tests has.
constexpr std::int64_t kMoreThanThereIs = std::int64_t{1} << 40;

// What is known of the elements between two ops, so that the next one can be written in C++ and
// makes sense.
struct State {
  enum class Type { number, name, numbers, names, value };  // the last is dynamic
  Type type = Type::number;
  bool has_lists = false;
  bool endless = false;    // a repeat for ever waits for a take
  bool arbitrary = false;  // their order is not known: nothing may follow that depends on it

  bool is_batch() const { return type == Type::numbers || type == Type::names; }
};

class Drawing {
 public:
  Drawing(Random& random, const Limits& limits) : random_(random), limits_(limits) {}

  Graph draw() {
    const std::int64_t size = random_.between(1, limits_.ops);
    add_source();
    while (static_cast<std::int64_t>(graph_.ops.size()) < size) {
      const bool last = static_cast<std::int64_t>(graph_.ops.size()) + 1 == size;
      add(choose(last));
    }
    graph_.arbitrary = state_.arbitrary;
    return std::move(graph_);
  }

 private:
  bool fits(Kind kind, bool last) const {
    switch (kind) {
      case Kind::shard:
      case Kind::take:
      case Kind::skip:
      case Kind::own_stream:
        return !state_.arbitrary;
      case Kind::batch:
        return !state_.arbitrary && !state_.is_batch();
      case Kind::unbatch:
        return state_.is_batch() || state_.type == State::Type::value;
      case Kind::repeat:
        return !last || !state_.endless;
      default:
        return true;
    }
  }

  // Batches should be taken apart more often than numbers are found to have no rows.
  std::int64_t weight(Kind kind) const {
    if (kind == Kind::unbatch) return state_.has_lists ? 6 : 1;
    return 4;
  }

  Kind choose(bool last) {
    if (last && state_.endless) return Kind::take;
    std::vector<Kind> choices;
    for (int i = static_cast<int>(Kind::shard); i < model::kKinds; ++i) {
      const auto kind = static_cast<Kind>(i);
      if (fits(kind, last))
        choices.insert(choices.end(), static_cast<std::size_t>(weight(kind)), kind);
    }
    return random_.pick(choices);
  }

  model::Modulus modulus() {
    const std::int64_t mod = random_.between(2, 9);
    return {mod, random_.below(mod)};
  }
  model::Modulus sometimes() {
    const bool does = limits_.faults ? !random_.one_in(4) : random_.one_in(3);
    return does ? modulus() : model::Modulus{};
  }

  void add_source() {
    Op op{.kind = static_cast<Kind>(random_.below(static_cast<int>(Kind::from_file_list) + 1))};
    const bool is_list = op.kind == Kind::from_file_list;
    op.count = random_.one_in(10) ? random_.below(2) : random_.between(1, 30);
    if (is_list) op.count = std::max<std::int64_t>(op.count, 1);
    op.first = random_.between(-5, 50);
    op.step = random_.pick(std::vector<std::int64_t>{1, 1, 2, 7, -3});
    op.lists =
        (op.kind == Kind::from_vector || op.kind == Kind::from_generator) && random_.one_in(2);
    How how;
    if (op.kind == Kind::from_generator) {
      op.fails = sometimes();
      how.as_factory = random_.one_in(2);
      op.stamped = how.as_factory && random_.one_in(2);
      if (limits_.faults && how.as_factory && random_.one_in(2)) op.fails_passes = modulus();
    }
    state_.has_lists = op.lists;
    if (op.kind == Kind::from_vector || op.kind == Kind::from_generator)
      state_.type = State::Type::value;
    if (is_list) state_.type = State::Type::name;
    put(op, how);
  }

  void put(Op op, How how) {
    how.applied = !graph_.ops.empty() && random_.one_in(6);
    how.any_fault = op.any_text = limits_.faults;
    graph_.ops.push_back(op);
    graph_.how.push_back(how);
  }

  void add(Kind kind) {
    Op op{.kind = kind};
    How how;
    choose_count(op);
    choose_function(op, how);
    if (kind == Kind::shuffle) {
      how.seed = random_.next();
      how.reshuffle = !random_.one_in(4);
    }
    if (kind == Kind::prefetch) how.parallelism = random_.below(9);
    state_.endless = (state_.endless && (kind != Kind::take || op.count < 0)) ||
                     (kind == Kind::repeat && op.count < 0);
    state_.arbitrary = state_.arbitrary || op.arbitrary;
    change_type(kind);
    put(op, how);
  }

  void choose_count(Op& op) {
    switch (op.kind) {
      case Kind::shard:
        op.count = random_.between(1, 4);
        op.index = random_.below(op.count);
        break;
      case Kind::shuffle:
        op.count = random_.one_in(4) && !state_.endless ? -2 : random_.between(1, 40);
        break;
      case Kind::repeat:
        op.count = random_.one_in(3) && !state_.arbitrary ? -1 : random_.below(4);
        break;
      case Kind::take:
        op.count = random_.one_in(8) && !state_.endless ? -1 : random_.below(30);
        break;
      case Kind::skip:
        op.count = random_.one_in(8) && !state_.endless ? -1 : random_.below(12);
        break;
      case Kind::batch:
        op.count = random_.between(1, 7);
        op.drop_remainder = random_.one_in(2);
        break;
      case Kind::own_stream:
        op.count = random_.between(1, 4);
        op.index = random_.below(5);
        break;
      default:
        break;
    }
  }

  // For the ops that call a function, or may run in parallel.
  void choose_function(Op& op, How& how) {
    const bool is_own = op.kind == Kind::own_elementwise || op.kind == Kind::own_async;
    if (op.kind != Kind::map && op.kind != Kind::filter && op.kind != Kind::flat_map && !is_own)
      return;
    op.fails = sometimes();
    op.keeps = modulus();
    op.first = random_.below(20);
    op.step = random_.between(1, 3);
    op.stamped = op.kind == Kind::map && random_.one_in(4);
    if (op.kind == Kind::own_async && random_.one_in(2)) op.loses = modulus();
    op.arbitrary = !state_.endless && random_.one_in(8);
    how.parallelism = random_.one_in(2) ? 0 : random_.between(1, 8);
    how.blocks = static_cast<int>(random_.between(-1, 1));
    how.with_context = op.stamped || random_.one_in(3);
    how.reserves = how.with_context && random_.one_in(3) ? random_.between(1, 3000) : 0;
    if (limits_.faults && how.with_context && random_.one_in(8)) how.reserves = kMoreThanThereIs;
    how.as_dataset = random_.one_in(2);
    how.hinted = random_.one_in(2);
    const std::int64_t jitter =
        random_.one_in(2) ? random_.between(1, how.blocks == 1 ? 300 : 60) : 0;
    how.jitter_us = limits_.jitter ? jitter : 0;
  }

  void change_type(Kind kind) {
    const bool makes_values = kind == Kind::map || kind == Kind::flat_map ||
                              kind == Kind::own_elementwise || kind == Kind::own_stream ||
                              kind == Kind::own_async;
    const auto is = [&](State::Type type) { return state_.type == type; };
    if (kind == Kind::flat_map || kind == Kind::own_stream) state_.has_lists = false;
    if (kind == Kind::batch) state_.has_lists = true;
    if (kind == Kind::unbatch && state_.is_batch()) state_.has_lists = false;
    if (makes_values) {
      state_.type = State::Type::value;
    } else if (kind == Kind::batch && !is(State::Type::value)) {
      state_.type = is(State::Type::number) ? State::Type::numbers : State::Type::names;
    } else if (kind == Kind::unbatch && state_.is_batch()) {
      state_.type = is(State::Type::numbers) ? State::Type::number : State::Type::name;
    }
  }

  Random& random_;
  const Limits& limits_;
  State state_;
  Graph graph_;
};

std::int64_t size_of(const model::Value& value) {
  std::int64_t size = 1;
  for (const model::Value& row : value.rows) size += size_of(row);
  return size;
}

// The model, which knows no order of a shuffle, may see an element in each pass, or a pass without anything, where the run meets
// errors alone, for ever.
bool may_repeat_errors_for_ever(const Graph& graph) {
  const auto is_shuffle = [](const Op& op) { return op.kind == Kind::shuffle; };
  const auto is_endless = [](const Op& op) { return op.kind == Kind::repeat && op.count < 0; };
  const auto shuffle = std::ranges::find_if(graph.ops, is_shuffle);
  return std::any_of(shuffle, graph.ops.end(), is_endless);
}

bool is_small(const Graph& graph, const Limits& limits) {
  if (limits.faults && may_repeat_errors_for_ever(graph)) return false;
  model::Pipeline pipeline(graph.ops, {}, limits.work);
  pipeline.begin_epoch(0);
  std::int64_t items = 0, values = 0;
  try {
    while (const auto item = pipeline.next()) {
      values += size_of(item->value);
      if (++items > limits.elements || values > 8 * limits.elements) return false;
    }
  } catch (const model::TooMuchWork&) {
    return false;
  }
  return true;
}

}  // namespace

Graph draw_graph(std::uint64_t seed, const Limits& limits) {
  Random random(seed);
  for (;;) {
    Graph graph = Drawing(random, limits).draw();
    if (is_small(graph, limits)) return graph;
  }
}

bool Graph::cuts_passes() const {
  return std::ranges::any_of(ops, [](const Op& op) {
    return (op.kind == Kind::take && op.count >= 0) || (op.kind == Kind::own_stream && op.index > 0) ||
           (op.kind == Kind::repeat && op.count <= 0);
  });
}

std::string Graph::text() const {
  std::string text;
  for (const Op& op : ops) {
    text += (text.empty() ? "" : " ") + std::string(model::name_of(op.kind)) + '(' +
            std::to_string(op.count);
    if (op.kind == Kind::shard || op.kind == Kind::own_stream)
      text += ", " + std::to_string(op.index);
    if (op.fails.mod > 0) text += ", fails";
    if (op.arbitrary) text += ", arbitrary";
    text += ')';
  }
  return text;
}

}  // namespace random_graphs
