// scan(initial, function): a function with a state that goes from element to element. Documented at Dataset::scan.
#pragma once

#include <string>
#include <utility>

#include "ops/step_op.h"

namespace penstock::ops {

class ScanOp final : public StepOp {
 public:
  // `initial`: the state that each pass begins with, as text; "": it has none.
  ScanOp(detail::StepFactoryRef step, std::string initial) : StepOp(std::move(step)), initial_(std::move(initial)) {}
  std::string name() const override { return "scan"; }
  std::string parameters() const override { return initial_.empty() ? "" : "initial=" + initial_; }
  Flow flow(const Flow& input) const override { return {.cardinality = input.cardinality}; }

 private:
  const std::string initial_;
};

}  // namespace penstock::ops
