#include "lib/exec/elementwise_stage.h"

#include <utility>

#include "lib/core/byte_count.h"
#include "lib/exec/nest_body.h"
#include "lib/graph/traits.h"

namespace penstock::exec {

std::vector<FusedOp> ops_of_a_call(const graph::NodeRef& owner, std::span<const graph::Use> uses) {
  std::vector<FusedOp> ops;
  for (const graph::Use& use : uses) {
    if (!ops.empty() && !use.shares_calls) break;
    ops.push_back({.op = share<ElementwiseOp>(owner, *use.node),
                   .label = label_of(*use.node, use.number),
                   .random_key = use.path.random_key(use.node->position())});
  }
  return ops;
}

void note_calls(StagePlan& stage, const graph::Node& node) {
  const auto& op = *node.as<ElementwiseOp>();
  stage.serial = false;
  stage.form = op.form();
  stage.form_is_known = op.form_is_known();
  stage.order = op.order();
  stage.is_reentrant = graph::is_reentrant(op);
  stage.parallelism = graph::calls_at_once(op);
  stage.passes_memory_on = op.passes_memory_on();
  if (const auto* nest = node.as<graph::OpensDatasets>())
    stage.nest = {nest->cycle_length(), nest->block_length(), op.has_state()};
  stage.has_state = op.has_state() && !stage.is_nest();  // which tells passes apart by itself (Inner::pass)
}

std::int64_t bytes_of_results(const ElementwiseOp& op) {
  const std::size_t bytes = op.result_bytes();
  return bytes == 0 ? 0 : byte_count(bytes) + byte_count(sizeof(Slot));
}

StagePlan::Open body_of(std::vector<FusedOp> ops, bool borrows, const StagePlan& stage) {
  return [ops = std::move(ops), borrows, depth = stage.depth, is_nest = stage.is_nest()](
             std::size_t, BodyHost& host, PassControl&) -> std::unique_ptr<Body> {
    if (ops.size() > 1) return std::make_unique<FusedBody>(ops, host);
    if (is_nest) return std::make_unique<NestBody>(ops.front().op, host);
    return std::make_unique<ElementwiseBody>(ops.front().op, borrows, depth);
  };
}

}  // namespace penstock::exec
