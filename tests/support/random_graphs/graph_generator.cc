#include "tests/support/random_graphs/graph_generator.h"

#include <algorithm>
#include <utility>

#include "tests/ops/all_cases.h"

namespace random_graphs {

using model::Kind;
using model::Op;

namespace {

class Drawing {
 public:
  Drawing(Random& random, const Limits& limits) : random_(random), limits_(limits) {}

  Graph draw() {
    const std::int64_t size = random_.between(1, limits_.ops);
    add(choose_source());
    while (static_cast<std::int64_t>(graph_.ops.size()) < size) {
      const bool last = static_cast<std::int64_t>(graph_.ops.size()) + 1 == size;
      add(choose(last));
    }
    graph_.arbitrary = state_.arbitrary;
    return std::move(graph_);
  }

 private:
  Kind choose_source() {
    std::vector<Kind> sources = op_cases::all_kinds();
    std::erase_if(sources, [](Kind kind) { return !op_cases::is_source(kind); });
    return random_.pick(sources);
  }

  Kind choose(bool last) {
    if (last && state_.endless) return Kind::take;
    std::vector<Kind> choices;
    for (const Kind kind : op_cases::all_kinds()) choices.insert(choices.end(), weight(kind), kind);
    return random_.pick(choices);
  }

  std::size_t weight(Kind kind) const {
    return op_cases::with_case(kind, [&]<class Case>(Case) {
      const bool fits = !Case::kIsSource && Case::fits(state_);
      return fits ? static_cast<std::size_t>(Case::weight(state_)) : 0;
    });
  }

  void add(Kind kind) {
    Op op{.kind = kind};
    How how;
    op_cases::with_case(kind, [&]<class Case>(Case) {
      Case::draw(op, how, {random_, limits_, state_});
      Case::after(op, state_);
    });
    state_.arbitrary = state_.arbitrary || op.arbitrary;
    how.applied = !graph_.ops.empty() && random_.one_in(6);
    how.any_fault = op.any_text = limits_.faults;
    graph_.ops.push_back(op);
    graph_.how.push_back(how);
  }

  Random& random_;
  const Limits& limits_;
  Elements state_;
  Graph graph_;
};

std::int64_t size_of(const model::Value& value) {
  std::int64_t size = 1;
  for (const model::Value& row : value.rows) size += size_of(row);
  return size;
}

// The model, which knows no order of a shuffle, may see an element in each pass, or a pass without anything, where the
// run meets errors alone, for ever; or, if no take ends it, an end where passes in another order are never empty. Nor
// does its shuffle fill up: behind a `unique` of the passes of an endless repeat that may take for ever.
bool may_be_endless(const Graph& graph, const Limits& limits) {
  const auto is_shuffle = [](const Op& op) { return op.kind == Kind::shuffle; };
  const auto is_endless = [](const Op& op) { return op.kind == Kind::repeat && op.count < 0; };
  const auto is_take = [](const Op& op) { return op.kind == Kind::take; };
  const auto is_unique = [](const Op& op) { return op.kind == Kind::unique; };
  const auto unique = std::find_if(std::ranges::find_if(graph.ops, is_endless), graph.ops.end(), is_unique);
  if (std::any_of(unique, graph.ops.end(), is_shuffle)) return true;
  const auto repeat = std::find_if(std::ranges::find_if(graph.ops, is_shuffle), graph.ops.end(), is_endless);
  return repeat != graph.ops.end() && (limits.faults || std::none_of(repeat, graph.ops.end(), is_take));
}

bool is_small(const Graph& graph, const Limits& limits) {
  if (may_be_endless(graph, limits)) return false;
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
    return op_cases::with_case(op.kind, [&]<class Case>(Case) { return Case::ends_passes(op); });
  });
}

std::string Graph::text() const {
  std::string text;
  for (const Op& op : ops) {
    text += (text.empty() ? "" : " ") + std::string(model::name_of(op.kind)) + '(' + std::to_string(op.count);
    if (op.index != 0) text += ", " + std::to_string(op.index);
    if (op.fails.mod > 0) text += ", fails";
    if (op.arbitrary) text += ", arbitrary";
    text += ')';
  }
  return text;
}

}  // namespace random_graphs
