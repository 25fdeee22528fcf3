#include "lib/graph/made_of.h"

#include <utility>

#include "lib/graph/traits.h"

namespace penstock::graph {
namespace {

// Whether it says that each element becomes one. A filter gives an unknown number of them.
bool is_one_to_one(const Node& node) {
  const auto* op = node.as<ElementwiseOp>();
  if (op == nullptr || op->order() == Order::arbitrary || op->has_state() || op->may_fan_out()) return false;
  const std::int64_t before = node.inputs().front()->flow().cardinality;
  return op->declares() == Declares::one_each || (before != UNKNOWN_CARDINALITY && node.flow().cardinality == before);
}

// Each element of the node is of so many of its input, in their order. 0: that is not known.
std::int64_t inputs_of_each(const Node& node) {
  if (node.kind() == Kind::buffer || is_one_to_one(node)) return 1;
  const auto* batch = node.as<PutsTogether>();
  return batch == nullptr ? 0 : batch->batch_size();
}

// The first op behind what are positions.
const Node* first_without_positions(const NodeRef& node) {
  for (const NodeRef& input : node->inputs()) {
    if (!positions_up_to(input)) return first_without_positions(input);
  }
  return node.get();
}

}  // namespace

MadeOf made_of(const NodeRef& node) {
  if (auto positions = positions_up_to(node)) return {.last = node, .positions = std::move(*positions)};
  const std::int64_t inputs = inputs_of_each(*node);
  if (inputs == 0) {
    const bool is_over_positions = node->kind() == Kind::stream && node->as<SplitsByPosition>() != nullptr;
    return {
        .last = nullptr, .positions = {}, .stranger = is_over_positions ? first_without_positions(node) : node.get()};
  }
  MadeOf before = made_of(node->inputs().front());
  before.each = before.each > kEndless / inputs ? kEndless : before.each * inputs;
  return before;
}

}  // namespace penstock::graph
