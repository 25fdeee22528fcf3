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

// The same of a run that moves, but only since threads have been lent to it, so many times.
std::string help_text(const Snapshot& snapshot, const exec::Plan& plan, std::int64_t times);

// Looks whether anything moves that the consumer waits for: what a branch reads ahead does not count. One thread.
class StandStill {
 public:
  static constexpr std::int64_t kPatience = 5'000'000'000;  // ns
  static constexpr std::int64_t kOftenHelped = 20;          // a run that learns by itself which calls wait needs less

  // For how long nothing has moved while the consumer waited, in ns; 0: it has.
  std::int64_t look(const Snapshot& now) noexcept;
  void was_helped(const Snapshot& now) noexcept;  // a thread has been lent to it, for it stood still

  // What is to be said, as of the snapshot that was looked at last: that it stands, or that it lives on help; "":
  // nothing. is_news(): true once for each of both.
  std::string text(const Snapshot& now, const exec::Plan& plan) const;
  bool is_news(const Snapshot& now) noexcept;

 private:
  bool stands(const Snapshot& now) const noexcept { return now.time_ns - since_ns_ >= kPatience; }
  bool lives_on_help(const Snapshot& now) const noexcept {
    return helped_ >= kOftenHelped && now.time_ns - helped_ns_ < kPatience;
  }

  std::int64_t moved_ = -1;     // sum of all counters of elements
  std::int64_t since_ns_ = 0;   // time of the snapshot in which it was seen first
  std::int64_t helped_ = 0;     // times, with no pause between
  std::int64_t helped_ns_ = 0;  // last
  bool told_of_stand_ = false, told_of_help_ = false;
};

}  // namespace penstock::runtime
