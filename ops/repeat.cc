#include "ops/repeat.h"

#include <penstock/ops.h>

#include "lib/graph/arguments.h"

namespace penstock::ops {
namespace {

std::int64_t repeated(std::int64_t cardinality, std::int64_t count) {
  if (count == 0 || cardinality == 0) return 0;
  if (count < 0) return INFINITE_CARDINALITY;
  if (cardinality < 0) return cardinality;
  std::int64_t product = 0;
  return __builtin_mul_overflow(cardinality, count, &product) ? UNKNOWN_CARDINALITY : product;
}

}  // namespace

RepeatOp::RepeatOp(std::int64_t count) : count_(count) {
  if (count < -1) graph::reject("count", "at least 0, or -1 for ever", count);
}

std::string RepeatOp::parameters() const {
  return "count=" + (count_ < 0 ? std::string("for ever") : std::to_string(count_));
}

Flow RepeatOp::flow(const Flow& input) const { return {repeated(input.cardinality, count_), input.leading_dimension}; }

OpRef repeat(std::int64_t count) { return std::make_shared<RepeatOp>(count); }

}  // namespace penstock::ops
