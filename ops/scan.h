// scan(initial, function): a function with a state that goes from element to element. Documented at Dataset::scan.
#pragma once

#include <string>

#include "ops/step_op.h"

namespace penstock::ops {

class ScanOp final : public StepOp {
 public:
  explicit ScanOp(detail::StepFactoryRef step) : StepOp(std::move(step)) {}
  std::string name() const override { return "scan"; }
  Flow flow(const Flow& input) const override { return {.cardinality = input.cardinality}; }
};

}  // namespace penstock::ops
