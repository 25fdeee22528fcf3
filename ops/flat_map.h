// flat_map(f): the elements of f(element), one after the other: of a list, which a call makes whole, or of a dataset,
// which is read as an interleave's (lib/exec/lanes.h). Documented at Dataset::flat_map.
#pragma once

#include <penstock/options.h>

#include <cstdint>
#include <string>

#include "lib/graph/traits.h"
#include "ops/function_op.h"

namespace penstock::ops {

class FlatMapOp final : public FunctionOp {
 public:
  FlatMapOp(detail::FunctionRef function, const MapOptions& options);
  std::string name() const override { return "flat_map"; }
  Flow flow(const Flow&) const override { return {}; }
};

class FlatMapDatasetsOp final : public FunctionOp, public graph::OpensDatasets {
 public:
  // `function` makes a graph::NodeRef of an element.
  FlatMapDatasetsOp(detail::FunctionRef function, const MapOptions& options);
  std::string name() const override { return "flat_map"; }
  Flow flow(const Flow& input) const override;
  std::int64_t cycle_length() const override { return 1; }
  // No turn ends by it. Twice as many are made ahead of each dataset that waits for its turn.
  std::int64_t block_length() const override { return 16; }
};

}  // namespace penstock::ops
