#include "ops/ragged_batch.h"

#include <penstock/ops.h>

namespace penstock::ops {

OpRef ragged_batch(std::int64_t batch_size, detail::BatchFactoryRef factory, const BatchOptions& options) {
  return std::make_shared<RaggedBatchOp>(batch_size, std::move(factory), options);
}

}  // namespace penstock::ops
