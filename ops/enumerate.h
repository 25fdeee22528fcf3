// enumerate(start): each element with its position, errors counted. Documented at Dataset::enumerate.
#pragma once

#include <string>

#include "ops/step_op.h"

namespace penstock::ops {

class EnumerateOp final : public StepOp {
 public:
  EnumerateOp(std::int64_t start, detail::StepFactoryRef step) : StepOp(std::move(step)), start_(start) {}
  std::string name() const override { return "enumerate"; }
  std::string parameters() const override { return "start=" + std::to_string(start_); }
  Flow flow(const Flow& input) const override { return {.cardinality = input.cardinality}; }
  bool form_is_known() const override { return true; }

 private:
  std::int64_t start_;
};

}  // namespace penstock::ops
