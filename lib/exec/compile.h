// Compile: from the nodes of a graph to the stages of a run.
//
//   * An indexable source and the shard, shuffle, take and skip right behind it become one stage over positions: names
//     of files that another rank reads are never touched, and a shuffle of a million of them holds no buffer.
//   * repeat(n) is no stage: the source restarts itself (pass_control.h). An endless one is a stage that looks for
//     empty passes.
//   * prefetch is no stage: it is the size of the next edge, or of the outlet.
#pragma once

#include <memory>

#include <penstock/graph.h>

#include "lib/exec/stage_plan.h"

namespace penstock::exec {

std::shared_ptr<const Plan> compile(const graph::NodeRef& node);

}  // namespace penstock::exec
