// enumerate(start): each element with its position, errors counted. Documented at Dataset::enumerate.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/graph/positions.h"
#include "ops/step_op.h"

namespace penstock::ops {

class EnumerateOp final : public StepOp, public graph::MergesPositions {
 public:
  EnumerateOp(std::int64_t start, detail::StepFactoryRef step);
  std::string name() const override { return "enumerate"; }
  std::string parameters() const override { return "start=" + std::to_string(start_); }
  Flow flow(const Flow& input) const override { return {.cardinality = input.cardinality}; }
  bool form_is_known() const override { return true; }
  std::optional<graph::Positions> over_positions(std::vector<graph::Positions> inputs) const override;

 private:
  std::int64_t start_;
  std::shared_ptr<detail::Step> numbering_;  // one like those of passes: it changes nothing of its own
};

}  // namespace penstock::ops
