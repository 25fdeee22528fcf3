// concatenate(a, b, ...): all of a, then all of b, ... Documented at Dataset::concatenate.
#pragma once

#include <penstock/op.h>

#include <optional>
#include <vector>

#include "lib/graph/positions.h"

namespace penstock::ops {

class ConcatenateOp final : public MergeOp, public graph::MergesPositions {
 public:
  std::string name() const override { return "concatenate"; }
  Flow flow_of(std::span<const Flow> inputs) const override;
  std::unique_ptr<MergeState> open(std::size_t inputs) const override;
  std::optional<graph::Positions> over_positions(std::vector<graph::Positions> inputs) const override;
};

}  // namespace penstock::ops
