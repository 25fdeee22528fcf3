// prefetch(n): up to n elements wait here. Documented at Dataset::prefetch. The engine does the
// work: it widens the edge at this place, or the consumer's queue behind the last stage.
#pragma once

#include "lib/graph/control_ops.h"

namespace penstock::ops {

class PrefetchOp final : public graph::BufferOp {
 public:
  // Error(invalid_argument) if buffer_size < 0.
  explicit PrefetchOp(Tunable buffer_size);
  std::string name() const override { return "prefetch"; }
  Flow flow(const Flow& input) const override { return input; }
  Tunable size() const override { return buffer_size_; }

 private:
  Tunable buffer_size_;
};

}  // namespace penstock::ops
