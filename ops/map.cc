#include "ops/map.h"

#include <penstock/ops.h>

#include <utility>

namespace penstock::ops {

MapOp::MapOp(detail::FunctionRef function, const MapOptions& options)
    : FunctionOp(std::move(function), options),
      keeps_leading_dimension_(options.keeps_leading_dimension),
      cannot_fail_(options.cannot_fail) {}

Flow MapOp::flow(const Flow& input) const {
  return keeps_leading_dimension_ ? input : Flow{.cardinality = input.cardinality};
}

OpRef map(detail::FunctionRef function, const MapOptions& options) {
  return std::make_shared<MapOp>(std::move(function), options);
}

}  // namespace penstock::ops
