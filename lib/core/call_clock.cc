#include "lib/core/call_clock.h"

#include <sys/resource.h>

#include <algorithm>

#include "lib/core/clock.h"
#include "lib/core/scheduler_file.h"

namespace penstock {
namespace {

constexpr std::int64_t kUndisturbed = 50'000;  // ns: ten times what a reading takes
constexpr int kAttempts = 4;                   // who has just been given a core keeps it for longer than a reading

std::int64_t delay_of_thread() noexcept {
  static thread_local const SchedulerFile own;
  return own.delay_ns().value_or(0);
}

std::int64_t waits_of_thread() noexcept {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

}  // namespace

// The CPU time last here, and first in end(): so it is the call's, and not the readings'.
void CallClock::begin(bool with_waits) noexcept {
  with_waits_ = with_waits;
  for (int i = 0; i < kAttempts; ++i) {
    first_.begun_ns = now_ns();
    if (with_waits) first_.use.waits = waits_of_thread();
    first_.use.delay_ns = delay_of_thread();
    first_.use.cpu_ns = thread_cpu_ns();
    first_.ended_ns = now_ns();
    if (!is_disturbed(first_)) return;
  }
}

ThreadUse CallClock::end() noexcept {
  Reading last;
  last.begun_ns = now_ns();
  last.use.cpu_ns = thread_cpu_ns();
  last.use.delay_ns = delay_of_thread();
  if (with_waits_) last.use.waits = waits_of_thread();
  last.ended_ns = now_ns();
  return between(first_, last);
}

bool CallClock::is_disturbed(const Reading& reading) noexcept { return reading.ended_ns - reading.begun_ns > kUndisturbed; }

// What disturbs a reading is delay, whose clock is read behind it.
ThreadUse CallClock::between(const Reading& first, const Reading& last) noexcept {
  const std::int64_t disturbance = is_disturbed(last) ? last.ended_ns - last.begun_ns : 0;
  return {.cpu_ns = last.use.cpu_ns - first.use.cpu_ns,
          .delay_ns = std::max<std::int64_t>(last.use.delay_ns - first.use.delay_ns - disturbance, 0),
          .waits = last.use.waits - first.use.waits};
}

}  // namespace penstock
