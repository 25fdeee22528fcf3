// GiveWay: workers are there to serve the consumer, and are not to slow it.
//
// A consumer that computes shares the cores with them. While it is served, they get a lower priority; where that is not
// to be had, or not enough, fewer CPU permits. Where it waits for them, they get all of both.
#pragma once

#include <cstdint>
#include <optional>

#include <penstock/decision.h>
#include <penstock/snapshot.h>

#include "autotune/traffic.h"
#include "autotune/wish.h"

namespace penstock::autotune {

class GiveWay {
 public:
  // Of the run.
  struct Permits {
    std::int64_t now = 1, most = 1;
    bool last_resort = false;  // the priority is as low as may be
  };

  // 0 or 1; none: as it is. Call it in each look.
  std::optional<Wish> priority(const Snapshot& now, const Traffic& traffic, std::int64_t stands);

  // How many CPU permits; none: as many as there are. Call it in each look, after priority().
  std::optional<Wish> permits(const Snapshot& now, const Traffic& traffic, const Permits& permits);

 private:
  void watch_from(const Snapshot& now);
  Wish all_permits(const Permits& permits, double now_s);
  std::optional<Wish> fewer(const Traffic& traffic, const Permits& permits) const;
  std::optional<double> slowed(const Snapshot& now, const Traffic& traffic);

  double priority_moved_s_ = -1e9;
  double looked_s_ = -1e9;               // when permits() was last asked
  double from_s_ = 0;                    // since then the consumer is watched,
  std::int64_t from_delay_ns_ = -1;      // and what had delayed it before; -1: not known
  double fall_due_s_ = 0, pause_s_ = 4;  // after fewer permits were not enough
  std::int64_t enough_ = 1;              // permits, at least: with fewer the consumer has waited
};

}  // namespace penstock::autotune
