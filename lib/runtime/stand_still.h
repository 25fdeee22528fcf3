// A run in which nothing moves though its consumer waits: who waits for whom.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <penstock/snapshot.h>

#include "lib/exec/stage_plan.h"

namespace penstock::runtime {

// A line for the whole and one for each stage, from the source to the consumer: which calls run since when, what waits
// for what; and what may help, where calls of functions are under way. Without a newline at the end.
std::string stand_still_text(const Snapshot& snapshot, const exec::Plan& plan, std::int64_t since_ns);

// Looks whether anything moves. One thread.
class StandStill {
 public:
  static constexpr std::int64_t kPatience = 5'000'000'000;  // ns

  // For how long nothing has moved while the consumer waited, in ns; 0: it has. Of the snapshot that was looked at
  // last: since_ns().
  std::int64_t look(const Snapshot& now) noexcept;
  std::int64_t since_ns(const Snapshot& now) const noexcept { return now.time_ns - since_ns_; }
  // True once, when that has lasted for longer than kPatience.
  bool is_news(std::int64_t since_ns) noexcept;

 private:
  std::int64_t moved_ = -1;    // sum of all counters of elements
  std::int64_t since_ns_ = 0;  // time of the snapshot in which it was seen first
  bool told_ = false;
};

}  // namespace penstock::runtime
