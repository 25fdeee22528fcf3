// repeat(count): everything before it, count times. Documented at Dataset::repeat. The engine does
// the work: it starts the source again at each pass's end, and ends a repeat for ever after a pass
// that gave nothing.
#pragma once

#include "lib/graph/control_ops.h"

namespace penstock::ops {

class RepeatOp final : public graph::RestartOp {
 public:
  // Error(invalid_argument) if count < -1.
  explicit RepeatOp(std::int64_t count);
  std::string name() const override { return "repeat"; }
  std::string parameters() const override;
  Flow flow(const Flow& input) const override;
  std::int64_t count() const override { return count_; }

 private:
  std::int64_t count_;
};

}  // namespace penstock::ops
