#include "ops/flat_map.h"

#include <penstock/ops.h>

#include <utility>

namespace penstock::ops {

FlatMapOp::FlatMapOp(detail::FunctionRef function, Tunable parallelism, const MapOptions& options)
    : FunctionOp(std::move(function), parallelism, options) {}

OpRef flat_map(detail::FunctionRef function, Tunable parallelism, const MapOptions& options) {
  return std::make_shared<FlatMapOp>(std::move(function), parallelism, options);
}

}  // namespace penstock::ops
