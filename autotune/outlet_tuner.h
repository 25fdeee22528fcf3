// OutletTuner: how many elements wait ready for the consumer.
//
// Two reasons to hold more: it takes many at once (a burst: as deep as that), or what arrives is uneven (deeper
// whenever it found nothing although results had no room before). One to hold fewer: the buffer never runs low.
#pragma once

#include <cstdint>
#include <optional>

#include <penstock/decision.h>
#include <penstock/snapshot.h>

#include "autotune/traffic.h"
#include "autotune/wish.h"

namespace penstock::autotune {

class OutletTuner {
 public:
  std::optional<Wish> wish(const Snapshot& now, const Traffic& traffic);

 private:
  void start_over(const ConsumerSnapshot& now);
  void leave_out(const Snapshot& now);
  void follow_bursts(const Snapshot& now, const Traffic& traffic);
  void go_on_with_burst(const Snapshot& now, const Traffic& traffic, std::int64_t taken);
  void expect_again(double refilled);
  bool expects_burst() const noexcept;
  std::optional<Wish> deeper(const Snapshot& now);
  std::optional<Wish> shallower(const Snapshot& now);
  std::int64_t affordable(const Snapshot& now) const;

  ConsumerSnapshot before_;
  double now_s_ = 0, since_s_ = 0;  // of this look; since the one before
  // The burst that is under way: elements taken since the consumer last paused, less what arrived meanwhile.
  double backlog_ = 0, deepest_ = 0;
  std::int64_t taken_ = 0;        // in this burst
  double active_s_ = 0;           // when it last took one, or waited
  std::int64_t burst_ = 0;        // what the last ones needed
  std::int64_t burst_taken_ = 0;  // and took in all
  double burst_s_ = -1e9;         // when it was
  // Since the depth was last changed.
  double changed_s_ = 0;
  std::int64_t waits_ = 0, full_ns_ = 0;
  double drained_s_ = -1e9, pause_s_ = 2;
  // Since `watched_s_`, pauses left out.
  double watched_s_ = 0;
  std::int64_t most_ready_ = 0;
  std::int64_t least_ready_ = 0;
};

}  // namespace penstock::autotune
