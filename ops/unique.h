// unique: each value once. Documented at Dataset::unique.
#pragma once

#include <limits>
#include <string>

#include "ops/step_op.h"

namespace penstock::ops {

class UniqueOp final : public StepOp {
 public:
  explicit UniqueOp(detail::StepFactoryRef step) : StepOp(std::move(step)) {}
  std::string name() const override { return "unique"; }
  // Even of an endless input nobody knows whether another value comes.
  Flow flow(const Flow& input) const override { return {.leading_dimension = input.leading_dimension}; }
  bool form_is_known() const override { return true; }
  std::int64_t elements_held() const override { return std::numeric_limits<std::int64_t>::max(); }  // maybe all
  std::int64_t bytes_of_place() const override { return detail::kBytesOfNode; }
};

}  // namespace penstock::ops
