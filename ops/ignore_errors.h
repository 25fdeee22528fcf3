// ignore_errors: leaves out failed elements. Documented at Dataset::ignore_errors.
#pragma once

#include <penstock/op.h>

#include "lib/graph/traits.h"

namespace penstock::ops {

class IgnoreErrorsOp final : public StreamOp, public graph::KeepsElements {
 public:
  std::string name() const override { return "ignore_errors"; }
  bool is_as_new_after_output() const override { return true; }
  Flow flow(const Flow& input) const override;
  bool form_is_known() const override { return true; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override;
};

}  // namespace penstock::ops
