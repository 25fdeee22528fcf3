// The rewrites. Each goes over a graph from its sources to its end, changes it in place, and says what it has changed.
//
// What they may rely on: nodes, numbers and paths are those of the graph as written, and must stay so.
#pragma once

#include <penstock/rewrites.h>

#include <cstddef>
#include <string>

#include "lib/graph/rewritten.h"

namespace penstock::rewrite {

void eliminate_noops(graph::Rewritten& graph);
void push_selections_down(graph::Rewritten& graph);
void fuse(graph::Rewritten& graph, const Rewrites& which);

// Whether the op at `place` has the one before it in the list as its only input.
bool follows(const graph::Rewritten& graph, std::size_t place);
// Whoever read the op with the number `from` reads that with the number `to`.
void redirect(graph::Rewritten& graph, int from, int to);

}  // namespace penstock::rewrite
