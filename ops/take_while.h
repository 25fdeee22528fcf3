// take_while(predicate): elements as long as the predicate is true of them. Documented at Dataset::take_while.
#pragma once

#include <string>

#include "lib/graph/traits.h"
#include "ops/step_op.h"

namespace penstock::ops {

class TakeWhileOp final : public StepOp, public graph::EndsPasses {
 public:
  explicit TakeWhileOp(detail::StepFactoryRef predicate) : StepOp(std::move(predicate), Unwanted::ends_pass) {}
  std::string name() const override { return "take_while"; }
  bool may_end_pass(std::int64_t) const override { return true; }
  // Even of an endless input nobody knows where it ends.
  Flow flow(const Flow& input) const override { return {.leading_dimension = input.leading_dimension}; }
};

}  // namespace penstock::ops
