// padded_batch(n): n elements together, filled up to one size. Documented at Dataset::padded_batch; what becomes of a
// type says ps::PaddedCollate (padded_batch.h).
#pragma once

#include <penstock/padded_batch.h>

#include "ops/collect_op.h"

namespace penstock::ops {

class PaddedBatchOp final : public CollectOp {
 public:
  PaddedBatchOp(std::int64_t batch_size, detail::BatchFactoryRef factory, const Padding& padding, bool drop_remainder);
  std::string name() const override { return "padded_batch"; }
  std::string parameters() const override;

 private:
  std::string padding_;  // as text
};

}  // namespace penstock::ops
