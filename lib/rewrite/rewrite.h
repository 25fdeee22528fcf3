// Rewrite: what a run does in place of a graph as it is written, with less work and the same results (Rewrites).
//
//   const graph::Rewritten run = rewrite::rewritten(dataset.node(), options.rewrites);
//   run.changes  ->  {"left out take (op 2)", "map (op 1), filter (op 3) in one call"}
//
// A pure function; any thread. It costs some microseconds, by the number of ops. A new one: a file of its own with a
// function over graph::Rewritten (passes.h), a switch in Rewrites, and a test with the graph before and after.
#pragma once

#include <penstock/rewrites.h>

#include "lib/graph/rewritten.h"

namespace penstock::rewrite {

// Error(invalid_argument) if `last` is null.
graph::Rewritten rewritten(const graph::NodeRef& last, const Rewrites& which);

}  // namespace penstock::rewrite
