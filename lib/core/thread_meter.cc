#include "lib/core/thread_meter.h"

#include <pthread.h>

#include "lib/core/clock.h"

namespace penstock {

ThreadCpuClock::ThreadCpuClock() noexcept {
  clockid_t clock{};
  if (::pthread_getcpuclockid(::pthread_self(), &clock) == 0) clock_ = clock;
}

std::optional<std::int64_t> ThreadCpuClock::cpu_ns() const noexcept {
  return clock_ ? detail::read_clock_if_any(*clock_) : std::nullopt;
}

// The file knows its thread, the clock only its number: where there is a file, it says whether the thread still lives.
std::optional<ThreadMeter::Reading> ThreadMeter::read() const noexcept {
  const auto delay = file_.delay_ns();
  if (tells_delay_ && !delay) return std::nullopt;
  const auto cpu = clock_.cpu_ns();
  if (!cpu) return std::nullopt;
  return Reading{*cpu, delay};
}

}  // namespace penstock
