#include "lib/core/thread_cpu_clock.h"

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

}  // namespace penstock
