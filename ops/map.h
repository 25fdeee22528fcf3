// map(f): f(element) in place of each element. Documented at Dataset::map.
#pragma once

#include <penstock/options.h>

#include "ops/function_op.h"

namespace penstock::ops {

class MapOp final : public FunctionOp, public graph::AnswersInPlace {
 public:
  MapOp(detail::FunctionRef function, const MapOptions& options);
  std::string name() const override { return "map"; }
  bool may_fan_out() const override { return false; }
  Declares declares() const override { return Declares::one_each; }
  Flow flow(const Flow& input) const override;
  bool may_share_calls() const override { return is_free_to_share_calls(); }
  bool cannot_fail() const override { return cannot_fail_ || function().cannot_fail(); }

 private:
  bool keeps_leading_dimension_;
  bool cannot_fail_;
};

}  // namespace penstock::ops
