// map(f): f(element) in place of each element. Documented at Dataset::map.
#pragma once

#include <penstock/options.h>

#include "ops/function_op.h"

namespace penstock::ops {

class MapOp final : public FunctionOp {
 public:
  MapOp(detail::FunctionRef function, const MapOptions& options);
  std::string name() const override { return "map"; }
  bool may_fan_out() const override { return false; }
  Declares declares() const override { return Declares::one_each; }
  Flow flow(const Flow& input) const override;

 private:
  bool keeps_leading_dimension_;
};

}  // namespace penstock::ops
