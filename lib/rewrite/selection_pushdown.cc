// take, skip and shard go before maps that cannot fail: so the function is not called for what they leave out. They
// count elements, or errors too, so nothing that might become an error may come between.
#include <algorithm>
#include <utility>

#include "lib/graph/positions.h"
#include "lib/graph/traits.h"
#include "lib/rewrite/passes.h"

namespace penstock::rewrite {
namespace {

using graph::Kind;
using graph::Node;

bool is_selection(const Node& node) {
  return node.kind() == Kind::stream && node.as<graph::SelectsTheSame>() != nullptr && !node.counts_openings() &&
         node.gives() == nullptr;  // it looks at types
}

// One for one, the same whatever came before.
bool is_passable(const Node& node) {
  const auto* op = node.as<ElementwiseOp>();
  const auto* in_place = node.as<graph::AnswersInPlace>();
  return op != nullptr && in_place != nullptr && in_place->cannot_fail() && op->order() == Order::kept &&
         !op->has_state() && node.gives() == nullptr;
}

bool works_on_positions(const Node& node) {
  return node.as<graph::MergesPositions>() != nullptr ||
         node.as<StreamOp>()->over_index(graph::all_positions(1)) != nullptr;
}

// Whether the ops up to `end` may be positions of which one may fail to become an element: there it is a position that
// is counted, and behind a stage an error that is not.
bool may_be_positions_that_fail(const graph::Rewritten& graph, std::size_t end) {
  std::size_t first = end;
  while (first > 0 && graph.uses[first - 1].node->kind() == Kind::stream) {
    const Node& node = *graph.uses[--first].node;
    if (!works_on_positions(node)) return false;
    const bool is_ours = node.as<graph::SelectsTheSame>() != nullptr || node.as<graph::ShufflesOrder>() != nullptr ||
                         node.as<graph::MergesPositions>() != nullptr;
    if (!is_ours) return true;
  }
  const Node& node = *graph.uses[first - 1].node;
  return node.kind() == Kind::source && node.gives() != nullptr;  // a merge is of ours, or a stage
}

// A filter, say: elements that leave it may still lie in the source's memory, where a map does not mind and a stage for
// the selection would have each of them copied.
bool may_get_lent_elements(const graph::Rewritten& graph, std::size_t map) {
  const auto* before = follows(graph, map) ? graph.uses[map - 1].node->as<ElementwiseOp>() : nullptr;
  return before != nullptr && before->passes_memory_on();
}

// `place`: of the selection.
bool may_pass(const graph::Rewritten& graph, std::size_t place) {
  return follows(graph, place) && is_passable(*graph.uses[place - 1].node) &&
         !may_get_lent_elements(graph, place - 1) && !may_be_positions_that_fail(graph, place - 1);
}

void pass(graph::Rewritten& graph, std::size_t place) {
  graph::Use& map = graph.uses[place - 1];
  graph::Use& selection = graph.uses[place];
  const int before = map.inputs.front();
  redirect(graph, selection.number, map.number);
  map.inputs = {selection.number};
  selection.inputs = {before};
  std::swap(map, selection);
}

}  // namespace

void push_selections_down(graph::Rewritten& graph) {
  for (std::size_t i = 1; i < graph.uses.size(); ++i) {
    if (!is_selection(*graph.uses[i].node)) continue;
    std::size_t place = i;
    for (; may_pass(graph, place); --place) pass(graph, place);
    if (place < i) graph.changes.push_back(named(graph.uses[place]) + " before " + named(graph.uses[place + 1]));
  }
}

}  // namespace penstock::rewrite
