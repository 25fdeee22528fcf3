// Rewritten: a graph as it is run. Its nodes are those of the graph as it is written, and each keeps the number, path
// and call site that it has there, for errors, random numbers and checkpoints hang on these. Which of them there are,
// and in which order, may be another.
//
//   graph::Rewritten run = graph::as_written(last);
//   run = rewrite::rewritten(last, options.rewrites);
//   auto plan = exec::compile(last, run);
#pragma once

#include <string>
#include <vector>

#include "lib/graph/node.h"

namespace penstock::graph {

struct Rewritten {
  std::vector<Use> uses;             // in post-order, as graph::uses() has them. Numbers need not count up
  std::vector<std::string> changes;  // in words, in the order in which they were made; none: it is as written
};

Rewritten as_written(const NodeRef& last);

// The table of describe(): an op a line, with its number in the graph as written.
std::string describe(const Rewritten& graph);

}  // namespace penstock::graph
