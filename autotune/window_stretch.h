// WindowStretch: how much wider a window should be than the calls seen so far ask for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <penstock/snapshot.h>

namespace penstock::autotune {

// The slowest calls are the rarest: those that have been seen tell too little of them. Where calls stand idle behind a slow one for
// more of the time than is allowed for, and nothing else is left to do meanwhile, there are slower ones than that.
class WindowStretch {
 public:
  double value() const noexcept { return value_; }

  // In each tick. `all_wait`: the consumer waits, and the next stage has nothing to do. `at_once`: it grows in the stall, and not
  // only when it is over, as where all is calm, a change is not to fall into a bad second.
  void look(const StageSnapshot& stage, bool all_wait, bool at_once, std::int64_t time_ns) {
    const double time = static_cast<double>(time_ns - looked_ns_) / 1e9;
    looked_ns_ = time_ns;
    // What is ready waits for a core or for memory, and a wider window would only let more of it wait.
    const bool calls_are_idle = stage.ready == 0 && 10 * stage.running < 9 * stage.parallelism;
    const bool is_full = calls_are_idle && stage.in_window >= stage.window && stage.credits > 0;
    const double share = 1 - std::exp(-time / kMemory);
    stalled_ += share * ((all_wait && is_full ? 1 : 0) - stalled_);
    if (stalled_ < kTooMuch || (is_full && !at_once)) return;
    value_ = std::min(kMost, kStep * value_);
    stalled_ = 0;
  }

 private:
  static constexpr double kMemory = 1;     // s
  static constexpr double kTooMuch = 0.1;  // of the time
  static constexpr double kStep = 1.5, kMost = 16;

  double value_ = 1;
  double stalled_ = 0;  // share of the time
  std::int64_t looked_ns_ = 0;
};

}  // namespace penstock::autotune
