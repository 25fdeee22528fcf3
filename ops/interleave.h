// interleave(f): elements of several datasets, in turn. Documented at Dataset::interleave. The turns, and the datasets
// that are open, are the engine's (lib/exec/lanes.h).
#pragma once

#include <penstock/options.h>

#include <cstdint>
#include <string>

#include "lib/graph/traits.h"
#include "ops/function_op.h"

namespace penstock::ops {

class InterleaveOp final : public FunctionOp, public graph::OpensDatasets {
 public:
  // `function` makes a graph::NodeRef of an element.
  InterleaveOp(detail::FunctionRef function, const InterleaveOptions& options);
  std::string name() const override { return "interleave"; }
  std::string parameters() const override;
  Flow flow(const Flow& input) const override;
  std::int64_t cycle_length() const override { return cycle_length_; }
  std::int64_t block_length() const override { return block_length_; }

 private:
  const std::int64_t cycle_length_;
  const std::int64_t block_length_;
};

}  // namespace penstock::ops
