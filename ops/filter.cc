#include "ops/filter.h"

#include <penstock/ops.h>

#include <utility>

namespace penstock::ops {

FilterOp::FilterOp(detail::FunctionRef predicate, const FilterOptions& options, std::string settings)
    : FunctionOp(std::move(predicate),
                 {.parallelism = options.parallelism, .order = options.order, .blocks = false, .name = options.name}),
      settings_(std::move(settings)) {}

std::string FilterOp::parameters() const {
  const std::string name = FunctionOp::parameters();
  return name + (name.empty() || settings_.empty() ? "" : ", ") + settings_;
}

// Even of an endless input nobody knows whether anything is left.
Flow FilterOp::flow(const Flow& input) const { return {.leading_dimension = input.leading_dimension}; }

OpRef filter(detail::FunctionRef predicate, const FilterOptions& options, std::string settings) {
  return std::make_shared<FilterOp>(std::move(predicate), options, std::move(settings));
}

}  // namespace penstock::ops
