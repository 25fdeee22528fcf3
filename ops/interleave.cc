#include "ops/interleave.h"

#include <penstock/ops.h>

#include <utility>

#include "lib/graph/arguments.h"

namespace penstock::ops {
namespace {

constexpr std::int64_t kLongestCycle = 65536;

MapOptions as_map(const InterleaveOptions& options) {
  return {.parallelism = options.parallelism, .order = options.order, .blocks = options.blocks, .name = options.name};
}

// Datasets are opened ahead, by several calls at once.
void check_function(const detail::Function& function) {
  if (function.callable_in_parallel()) return;
  throw Error(
      ErrorCode::invalid_argument,
      "the function must be callable as const, since datasets are opened at once: make its call operator const, "
      "and give each dataset a state of its own");
}

}  // namespace

InterleaveOp::InterleaveOp(detail::FunctionRef function, const InterleaveOptions& options)
    : FunctionOp((check_function(*function), std::move(function)), as_map(options)),
      cycle_length_(options.cycle_length),
      block_length_(options.block_length) {
  if (cycle_length_ < 1 || cycle_length_ > kLongestCycle)
    graph::reject("cycle_length", "1 to " + std::to_string(kLongestCycle), cycle_length_);
  if (block_length_ < 1) graph::reject("block_length", "at least 1", block_length_);
}

std::string InterleaveOp::parameters() const {
  const std::string name = FunctionOp::parameters();
  return "cycle_length=" + std::to_string(cycle_length_) + ", block_length=" + std::to_string(block_length_) +
         (name.empty() ? "" : ", " + name);
}

Flow InterleaveOp::flow(const Flow& input) const { return graph::flow_of_opened(input); }

OpRef interleave(detail::FunctionRef function, const InterleaveOptions& options) {
  return std::make_shared<InterleaveOp>(std::move(function), options);
}

}  // namespace penstock::ops
