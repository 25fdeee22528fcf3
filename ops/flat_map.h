// flat_map(f): the elements of f(element), one after the other. Documented at Dataset::flat_map.
#pragma once

#include <penstock/options.h>

#include "ops/function_op.h"

namespace penstock::ops {

class FlatMapOp final : public FunctionOp {
 public:
  FlatMapOp(detail::FunctionRef function, const MapOptions& options);
  std::string name() const override { return "flat_map"; }
  Flow flow(const Flow&) const override { return {}; }
};

}  // namespace penstock::ops
