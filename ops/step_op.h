// What take_while, enumerate, scan and unique share: a step that each element takes, one after the other, with
// something that lasts for a pass.
//
// An error is a position like any other, and passes; but nothing passes behind the end of a pass.
#pragma once

#include <penstock/detail/steps.h>
#include <penstock/op.h>

namespace penstock::ops {

class StepOp : public StreamOp {
 public:
  enum class Unwanted : std::uint8_t { ends_pass, is_left_out };
  explicit StepOp(detail::StepFactoryRef step, Unwanted unwanted = Unwanted::is_left_out)
      : step_(std::move(step)), unwanted_(unwanted) {}
  std::unique_ptr<StreamState> open(std::uint64_t) const override;

 private:
  detail::StepFactoryRef step_;
  Unwanted unwanted_;
};

}  // namespace penstock::ops
