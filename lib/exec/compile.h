// Compile: from the nodes of a graph to the stages of a run.
//
//   * An indexable source and the shard, shuffle, take and skip right behind it become one stage over positions: names
//     of files that another rank reads are never touched, and a shuffle of a million of them holds no buffer.
//   * repeat(n) is no stage: the source restarts itself (pass_control.h). An endless one is a stage that looks for
//     empty passes.
//   * prefetch is no stage: it is the size of the next edge, or of the outlet.
//   * Ops that share calls (Use::shares_calls) are one stage.
#pragma once

#include <memory>

#include <penstock/graph.h>

#include "lib/exec/stage_plan.h"
#include "lib/graph/rewritten.h"

namespace penstock::exec {

std::shared_ptr<const Plan> compile(const graph::NodeRef& node);  // as it is written
// As it has been rewritten. The plan's text, and how it is resumed, are those of the graph as written: checkpoints may
// come from a run without rewrites, and go to one.
std::shared_ptr<const Plan> compile(const graph::NodeRef& node, graph::Rewritten as_run);

}  // namespace penstock::exec
