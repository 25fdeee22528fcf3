// choose_from(inputs, choice): the last input says which of the others comes next. Documented at ps::choose_from.
#pragma once

#include <penstock/op.h>

#include <optional>
#include <vector>

#include "lib/graph/positions.h"
#include "lib/graph/traits.h"

namespace penstock::ops {

class ChooseFromOp final : public MergeOp, public graph::MergesPositions, public graph::EndsPasses {
 public:
  explicit ChooseFromOp(bool stop_on_empty) : stop_on_empty_(stop_on_empty) {}
  std::string name() const override { return "choose_from"; }
  bool may_end_pass(std::int64_t) const override { return true; }
  std::string parameters() const override { return stop_on_empty_ ? "stop_on_empty" : ""; }
  Flow flow_of(std::span<const Flow> inputs) const override;
  std::unique_ptr<MergeState> open(std::size_t inputs) const override;
  // Not where the first end of an input is the end, or where choices differ in order from pass to pass, are too many to
  // count when a run begins, or are some that are an error.
  std::optional<graph::Positions> over_positions(std::vector<graph::Positions> inputs) const override;

 private:
  bool stop_on_empty_;
};

}  // namespace penstock::ops
