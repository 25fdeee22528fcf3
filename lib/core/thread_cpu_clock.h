// ThreadCpuClock: the CPU time of one thread, for any thread to read.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>

namespace penstock {

// Of the thread that makes it. To be read only as long as that one lives: a later thread may get its number.
class ThreadCpuClock {
 public:
  ThreadCpuClock() noexcept;
  std::optional<std::int64_t> cpu_ns() const noexcept;  // none: the thread has ended. ~0.5 us

 private:
  std::optional<clockid_t> clock_;
};

}  // namespace penstock
