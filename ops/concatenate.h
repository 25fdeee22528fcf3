// concatenate(a, b, ...): all of a, then all of b, ... Documented at Dataset::concatenate.
#pragma once

#include <penstock/op.h>

namespace penstock::ops {

class ConcatenateOp final : public MergeOp {
 public:
  std::string name() const override { return "concatenate"; }
  Flow flow_of(std::span<const Flow> inputs) const override;
  std::unique_ptr<MergeState> open(std::size_t inputs) const override;
};

}  // namespace penstock::ops
