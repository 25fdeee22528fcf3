// What a stage is like whose op is element-wise, or that has several which share calls.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lib/exec/fused_body.h"
#include "lib/exec/stage_plan.h"
#include "lib/graph/node.h"

namespace penstock::exec {

// The node's op, kept alive by the whole graph.
template <class Interface>
std::shared_ptr<const Interface> share(const graph::NodeRef& owner, const graph::Node& node) {
  return {owner, node.as<Interface>()};
}

// The first op, and those behind it that share its calls. `owner` keeps them.
std::vector<FusedOp> ops_of_a_call(const graph::NodeRef& owner, std::span<const graph::Use> uses);

// How the stage's calls are made, as its first op has it: those that share them have the same.
void note_calls(StagePlan& stage, const graph::Node& node);

// Of every result, with its slot; 0: they differ.
std::int64_t bytes_of_results(const ElementwiseOp& op);

// `borrows`: its inputs may refer to values of the source.
StagePlan::Open body_of(std::vector<FusedOp> ops, bool borrows, const StagePlan& stage);

}  // namespace penstock::exec
