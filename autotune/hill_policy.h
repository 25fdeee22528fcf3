// HillPolicy: what tf.data's autotuner does, on our knobs: for comparison.
#pragma once

#include <cstdint>
#include <vector>

#include "autotune/growing_prefetch.h"
#include "autotune/policy.h"

namespace penstock::autotune {

// As autotune.md describes tf.data (tensorflow/core/framework/model.cc, HILL_CLIMB): wall time of a call counts as CPU
// time, averages are of the whole life; calls are added one at a time, to the stage whose modelled time per element of
// the root is longest, until the model gives an element in the time that all cores together would need for it. It looks
// after 10 ms, then 20, 40, ... 60 s.
class HillPolicy final : public Policy {
 public:
  void tick(const Snapshot& now, std::vector<Knob>& knobs) override;

 private:
  void climb(const Snapshot& now, std::vector<Knob>& knobs);

  std::int64_t due_ns_ = 0;
  std::int64_t period_ns_ = 10'000'000;
  GrowingPrefetch prefetch_;
};

}  // namespace penstock::autotune
