// A map and the maps right behind it, and a filter behind those, run in one call (exec/fused_body.h).
//
// Only what is known to compute: one that turned out to block would take the others to the pool of threads that wait.
// Nothing comes behind a filter, so that results stay in the places of their inputs until the call is over.
#include "lib/graph/traits.h"
#include "lib/rewrite/passes.h"

namespace penstock::rewrite {
namespace {

bool may_share_calls(const graph::Node& node) {
  const auto* op = node.as<graph::AnswersInPlace>();
  return op != nullptr && op->may_share_calls() && node.gives() == nullptr;
}

bool is_map(const graph::Node& node) { return node.as<ElementwiseOp>()->declares() == Declares::one_each; }

bool joins(const graph::Rewritten& graph, std::size_t place, const Rewrites& which) {
  if (!follows(graph, place)) return false;
  const graph::Node &before = *graph.uses[place - 1].node, &node = *graph.uses[place].node;
  if (!may_share_calls(before) || !may_share_calls(node) || !is_map(before)) return false;
  return is_map(node) ? which.map_fusion : which.map_and_filter_fusion;
}

}  // namespace

void fuse(graph::Rewritten& graph, const Rewrites& which) {
  for (std::size_t i = 1; i < graph.uses.size(); ++i) {
    if (!joins(graph, i, which)) continue;
    graph.uses[i].shares_calls = true;
    const bool goes_on = graph.uses[i - 1].shares_calls;
    if (goes_on)
      graph.changes.back() += " + " + named(graph.uses[i]);
    else
      graph.changes.push_back("in one call " + named(graph.uses[i - 1]) + " + " + named(graph.uses[i]));
  }
}

}  // namespace penstock::rewrite
