// batch(n): n elements together. Documented at Dataset::batch; what a batch of a type is says ps::Collate (batch.h).
#pragma once

#include <penstock/options.h>

#include <utility>

#include "lib/graph/traits.h"
#include "ops/collect_op.h"

namespace penstock::ops {

class BatchOp final : public CollectOp, public graph::PutsTogether {
 public:
  BatchOp(std::int64_t batch_size, detail::BatchFactoryRef factory, const BatchOptions& options)
      : CollectOp(batch_size, std::move(factory), options.drop_remainder) {}
  std::string name() const override { return "batch"; }
  std::int64_t batch_size() const override { return batch_size_; }
};

}  // namespace penstock::ops
