// filter(predicate): the elements for which predicate(element) is true. Documented at Dataset::filter.
#pragma once

#include <penstock/options.h>

#include "ops/function_op.h"

namespace penstock::ops {

class FilterOp final : public FunctionOp, public graph::AnswersInPlace {
 public:
  FilterOp(detail::FunctionRef predicate, const FilterOptions& options);
  std::string name() const override { return "filter"; }
  bool may_fan_out() const override { return false; }
  bool passes_memory_on() const override { return true; }
  Flow flow(const Flow& input) const override;
  bool may_share_calls() const override { return is_free_to_share_calls(); }
  bool cannot_fail() const override { return false; }
};

}  // namespace penstock::ops
