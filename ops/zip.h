// zip(a, b, ...): the first elements of each input together, then the second ones, ... Documented at ps::zip.
// Where any of them is an error, the first one takes the place of all.
#pragma once

#include <penstock/detail/zip.h>
#include <penstock/op.h>

#include <optional>
#include <vector>

#include "lib/graph/positions.h"
#include "lib/graph/traits.h"

namespace penstock::ops {

class ZipOp final : public MergeOp, public graph::MergesPositions, public graph::EndsPasses {
 public:
  explicit ZipOp(detail::TupleMakerRef maker) : maker_(std::move(maker)) {}
  std::string name() const override { return "zip"; }
  bool may_end_pass(std::int64_t) const override { return true; }
  // The shortest of those that are not endless.
  Flow flow_of(std::span<const Flow> inputs) const override;
  std::unique_ptr<MergeState> open(std::size_t) const override;
  std::optional<graph::Positions> over_positions(std::vector<graph::Positions> inputs) const override;

 private:
  detail::TupleMakerRef maker_;
};

}  // namespace penstock::ops
