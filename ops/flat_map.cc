#include "ops/flat_map.h"

#include <penstock/ops.h>

#include <utility>

namespace penstock::ops {

FlatMapOp::FlatMapOp(detail::FunctionRef function, const MapOptions& options)
    : FunctionOp(std::move(function), options) {}

OpRef flat_map(detail::FunctionRef function, const MapOptions& options) {
  return std::make_shared<FlatMapOp>(std::move(function), options);
}

}  // namespace penstock::ops
