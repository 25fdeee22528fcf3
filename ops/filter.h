// filter(predicate): the elements for which predicate(element) is true. Documented at Dataset::filter.
#pragma once

#include <penstock/options.h>

#include <string>

#include "ops/function_op.h"

namespace penstock::ops {

class FilterOp final : public FunctionOp, public graph::AnswersInPlace {
 public:
  // `settings`: what else decides which elements stay, as text.
  FilterOp(detail::FunctionRef predicate, const FilterOptions& options, std::string settings = {});
  std::string name() const override { return "filter"; }
  std::string parameters() const override;
  bool may_fan_out() const override { return false; }
  bool passes_memory_on() const override { return true; }
  Flow flow(const Flow& input) const override;
  bool may_share_calls() const override { return is_free_to_share_calls(); }
  bool cannot_fail() const override { return false; }

 private:
  const std::string settings_;
};

}  // namespace penstock::ops
