#include "lib/core/call_clock.h"

#include <algorithm>

namespace penstock {
namespace {

constexpr std::int64_t kUndisturbed = 50'000;  // ns: ten times what a reading takes
constexpr int kAttempts = 4;                   // who has just been given a core keeps it for longer than a reading

}  // namespace

// The CPU time last here, and first in end(): so it is the call's, and not the readings'.
void CallClock::begin(bool with_waits) noexcept {
  with_waits_ = with_waits;
  for (int i = 0; i < kAttempts; ++i) {
    first_.begun_ns = machine_.now();
    if (with_waits) first_.use.waits = machine_.thread_waits();
    first_.use.delay_ns = machine_.thread_delay_ns();
    first_.use.cpu_ns = machine_.thread_cpu_ns();
    first_.ended_ns = machine_.now();
    if (!is_disturbed(first_)) return;
  }
}

ThreadUse CallClock::end() noexcept {
  Reading last;
  last.begun_ns = machine_.now();
  last.use.cpu_ns = machine_.thread_cpu_ns();
  last.use.delay_ns = machine_.thread_delay_ns();
  if (with_waits_) last.use.waits = machine_.thread_waits();
  last.ended_ns = machine_.now();
  return between(first_, last);
}

bool CallClock::is_disturbed(const Reading& reading) noexcept {
  return reading.ended_ns - reading.begun_ns > kUndisturbed;
}

// What disturbs a reading is delay, whose clock is read behind it.
ThreadUse CallClock::between(const Reading& first, const Reading& last) noexcept {
  const std::int64_t disturbance = is_disturbed(last) ? last.ended_ns - last.begun_ns : 0;
  return {.cpu_ns = last.use.cpu_ns - first.use.cpu_ns,
          .delay_ns = std::max<std::int64_t>(last.use.delay_ns - first.use.delay_ns - disturbance, 0),
          .waits = last.use.waits - first.use.waits};
}

}  // namespace penstock
