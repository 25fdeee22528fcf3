// ThreadMeter: what one thread has used so far, for any thread to read. (Of the calling thread itself: CallClock.)
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>

#include "lib/core/scheduler_file.h"

namespace penstock {

// The CPU clock of the thread that makes it. To be read only as long as that one lives: a later thread may get its number.
class ThreadCpuClock {
 public:
  ThreadCpuClock() noexcept;
  std::optional<std::int64_t> cpu_ns() const noexcept;  // none: the thread has ended. ~0.5 us

 private:
  std::optional<clockid_t> clock_;
};

// Of the thread that makes it. Opens a file, some 5 us.
class ThreadMeter {
 public:
  struct Reading {
    std::int64_t cpu_ns = 0;
    std::optional<std::int64_t> delay_ns;  // ready to run, and no core free; none where the system does not tell
  };
  ThreadMeter() noexcept : tells_delay_(file_.delay_ns().has_value()) {}
  std::optional<Reading> read() const noexcept;  // none: the thread has ended. ~2 us, under load 5
  // The CPU time alone, ~0.5 us. In between, for it cannot tell an ended thread from a later one with its number.
  std::optional<std::int64_t> cpu_ns() const noexcept { return clock_.cpu_ns(); }

 private:
  ThreadCpuClock clock_;
  SchedulerFile file_;
  bool tells_delay_;
};

}  // namespace penstock
