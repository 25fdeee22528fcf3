// ragged_batch(n): n elements one behind the other, whatever their lengths. Documented at Dataset::ragged_batch; what
// becomes of a type says ps::RaggedCollate (ragged_batch.h).
#pragma once

#include <penstock/options.h>

#include <utility>

#include "ops/collect_op.h"

namespace penstock::ops {

class RaggedBatchOp final : public CollectOp {
 public:
  RaggedBatchOp(std::int64_t batch_size, detail::BatchFactoryRef factory, const BatchOptions& options)
      : CollectOp(batch_size, std::move(factory), options.drop_remainder) {}
  std::string name() const override { return "ragged_batch"; }
};

}  // namespace penstock::ops
