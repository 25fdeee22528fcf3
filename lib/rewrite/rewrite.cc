#include "lib/rewrite/rewrite.h"

#include <algorithm>

#include "lib/rewrite/passes.h"

namespace penstock {

namespace rewrite {

graph::Rewritten rewritten(const graph::NodeRef& last, const Rewrites& which) {
  graph::Rewritten graph = graph::as_written(last);
  if (which.noop_elimination) eliminate_noops(graph);
  if (which.selection_pushdown) push_selections_down(graph);
  fuse(graph, which);
  return graph;
}

bool follows(const graph::Rewritten& graph, std::size_t place) {
  const auto& inputs = graph.uses[place].inputs;
  return place > 0 && inputs.size() == 1 && inputs.front() == graph.uses[place - 1].number;
}

void redirect(graph::Rewritten& graph, int from, int to) {
  for (graph::Use& use : graph.uses) std::ranges::replace(use.inputs, from, to);
}

}  // namespace rewrite

std::string graph::describe(const NodeRef& node, AsRun, const Rewrites& rewrites) {
  return describe(rewrite::rewritten(node, rewrites));
}

}  // namespace penstock
