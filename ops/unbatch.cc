#include "ops/unbatch.h"

#include <penstock/ops.h>

#include <utility>

namespace penstock::ops {
namespace {

std::int64_t rows_of(const Flow& input) {
  if (input.cardinality <= 0) return input.cardinality;  // none, endless, unknown: so are their rows
  std::int64_t rows = 0;
  const bool is_known =
      input.leading_dimension >= 0 && !__builtin_mul_overflow(input.cardinality, input.leading_dimension, &rows);
  return is_known ? rows : UNKNOWN_CARDINALITY;
}

}  // namespace

UnbatchOp::UnbatchOp(detail::FunctionRef function) : FunctionOp(std::move(function), {.blocks = false}) {}

Flow UnbatchOp::flow(const Flow& input) const { return {.cardinality = rows_of(input)}; }

OpRef unbatch(detail::FunctionRef function) { return std::make_shared<UnbatchOp>(std::move(function)); }

}  // namespace penstock::ops
