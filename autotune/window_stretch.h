// WindowStretch: how long results have to wait for slow calls, where that is longer than the calls seen so far tell.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <penstock/snapshot.h>

namespace penstock::autotune {

// The slowest calls are the rarest: those that have been seen tell too little of them. Where calls stand idle behind a
// slow one for more of the time than is allowed for, and nothing else is left to do meanwhile, there are slower ones
// than that. Once such have been seen, they tell it, and nothing is added to it.
class WindowStretch {
 public:
  // In s, where the calls seen so far ask for `patience`.
  double at_least(double patience) const noexcept { return std::max(patience, longer_); }

  // In each tick. `all_wait`: the consumer waits, and the next stage has nothing to do. `at_once`: it grows in the
  // stall, and not only when it is over, as where all is calm, a change is not to fall into a bad second.
  void look(const StageSnapshot& stage, bool all_wait, bool at_once, double patience, std::int64_t time_ns) {
    const double time = static_cast<double>(time_ns - looked_ns_) / 1e9;
    looked_ns_ = time_ns;
    longer_ *= std::exp(-time / kForgotten);
    const bool is_full = WindowStretch::is_full(stage);
    note_stall(stage, is_full, all_wait, time);
    if (stalled_ < kTooMuch || (is_full && !at_once)) return;
    longer_ = std::max(longer_, std::min(kMost * patience, kStep * at_least(patience)));
    stalled_ = 0;
    window_ = is_full ? stage.window : 0;
  }

 private:
  static bool is_full(const StageSnapshot& stage) noexcept {
    // What is ready waits for a core or for memory, and a wider window would only let more of it wait.
    const bool calls_are_idle = stage.ready == 0 && 10 * stage.running < 9 * stage.parallelism;
    return calls_are_idle && stage.in_window >= stage.window && stage.credits > 0;
  }

  // One in which it has grown already is none.
  void note_stall(const StageSnapshot& stage, bool is_full, bool all_wait, double time) {
    const bool has_grown = is_full && stage.window == window_;
    if (!has_grown) window_ = 0;
    const bool is_stall = all_wait && is_full && !has_grown;
    stalled_ += (1 - std::exp(-time / kMemory)) * ((is_stall ? 1 : 0) - stalled_);
  }

  static constexpr double kMemory = 1;  // s
  // s: what comes once in a minute costs less than the memory of a window for it
  static constexpr double kForgotten = 60;
  static constexpr double kTooMuch = 0.1;  // of the time
  static constexpr double kStep = 1.5, kMost = 16;

  double longer_ = 0;   // s; 0: what calls told was not too short
  double stalled_ = 0;  // share of the time
  std::int64_t looked_ns_ = 0;
  std::int64_t window_ = 0;  // at which it has grown in this stall: once for each width; 0: it has not
};

}  // namespace penstock::autotune
