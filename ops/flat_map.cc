#include "ops/flat_map.h"

#include <penstock/ops.h>

#include <utility>

namespace penstock::ops {

FlatMapOp::FlatMapOp(detail::FunctionRef function, const MapOptions& options)
    : FunctionOp(std::move(function), options) {}

FlatMapDatasetsOp::FlatMapDatasetsOp(detail::FunctionRef function, const MapOptions& options)
    : FunctionOp(std::move(function), {.parallelism = options.parallelism,
                                       .order = options.order,
                                       .blocks = options.blocks,
                                       .name = options.name}) {}

Flow FlatMapDatasetsOp::flow(const Flow& input) const { return graph::flow_of_opened(input); }

OpRef flat_map(detail::FunctionRef function, const MapOptions& options) {
  return std::make_shared<FlatMapOp>(std::move(function), options);
}

OpRef flat_map_datasets(detail::FunctionRef function, const MapOptions& options) {
  return std::make_shared<FlatMapDatasetsOp>(std::move(function), options);
}

}  // namespace penstock::ops
