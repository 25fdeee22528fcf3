#include "ops/padded_batch.h"

#include <penstock/ops.h>

#include <utility>

namespace penstock::ops {

PaddedBatchOp::PaddedBatchOp(std::int64_t batch_size, detail::BatchFactoryRef factory, const Padding& padding,
                             bool drop_remainder)
    : CollectOp(batch_size, std::move(factory), drop_remainder), padding_(to_string(padding)) {}

std::string PaddedBatchOp::parameters() const {
  return CollectOp::parameters() + (padding_.empty() ? "" : ", " + padding_);
}

OpRef padded_batch(std::int64_t batch_size, detail::BatchFactoryRef factory, const Padding& padding,
                   bool drop_remainder) {
  return std::make_shared<PaddedBatchOp>(batch_size, std::move(factory), padding, drop_remainder);
}

}  // namespace penstock::ops
