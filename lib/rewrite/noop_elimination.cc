// take(-1), skip(0) and shard(1, 0) hand on whatever comes to them: they are left out. Not repeat(1): a shuffle behind
// it is one of elements, and without it would be one of positions, which is another order.
#include "lib/graph/traits.h"
#include "lib/rewrite/passes.h"

namespace penstock::rewrite {
namespace {

bool does_nothing(const graph::Node& node) {
  if (node.gives() != nullptr) return false;  // it looks at types
  const auto* selects = node.as<graph::SelectsTheSame>();
  return selects != nullptr && selects->selects_all();
}

}  // namespace

void eliminate_noops(graph::Rewritten& graph) {
  for (std::size_t i = 0; i < graph.uses.size();) {
    const graph::Use& use = graph.uses[i];
    if (!does_nothing(*use.node)) {
      ++i;
      continue;
    }
    graph.changes.push_back("left out " + named(use));
    redirect(graph, use.number, use.inputs.front());
    graph.uses.erase(graph.uses.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace penstock::rewrite
