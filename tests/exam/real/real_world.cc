#include "tests/exam/real/real_world.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "lib/core/clock.h"

namespace penstock::exam {
namespace {

constexpr int kStepsBetweenClocks = 4'000;  // some 4 us: reading the clock takes half a microsecond

}  // namespace

void burn_cpu(double ns) {
  const std::int64_t end = thread_cpu_ns() + static_cast<std::int64_t>(ns);
  volatile std::uint64_t kept = 1;
  while (thread_cpu_ns() < end) {
    std::uint64_t state = kept;
    for (int i = 0; i < kStepsBetweenClocks; ++i) state = state * 6364136223846793005 + 1442695040888963407;
    kept = state;
  }
}

void sleep_ns(double ns) {
  if (ns >= 1) std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<std::int64_t>(ns)));
}

void RealDevice::serve(double ns, double calls) {
  if (!spec_.rates.empty()) return hold_lock(calls);
  if (spec_.slots > 0) return hold_slot(ns);
  sleep_ns(ns);
}

void RealDevice::hold_slot(double ns) {
  {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [&] { return busy_ < spec_.slots; });
    ++busy_;
  }
  sleep_ns(ns);
  {
    const std::lock_guard lock(mutex_);
    --busy_;
  }
  free_.notify_one();
}

// One call after the other in the order in which they come, so that n that crowd get spec_.rates[n - 1] calls a second
// together. A sleep ends late: the next one is as much shorter, as far as that is not idleness.
void RealDevice::hold_lock(double calls) {
  constexpr Time kLateAtMost = 200 * kMicrosecond;
  std::unique_lock lock(mutex_);
  const std::int64_t ticket = next_ticket_++;
  free_.wait(lock, [&] { return serving_ == ticket; });
  const auto crowd = static_cast<std::size_t>(next_ticket_ - serving_);
  const double ns = calls * 1e9 / spec_.rates[std::min(crowd, spec_.rates.size()) - 1];
  lock_free_at_ = std::max(lock_free_at_, now_ns() - kLateAtMost) + static_cast<Time>(ns);
  lock.unlock();
  sleep_ns(static_cast<double>(lock_free_at_ - now_ns()));
  lock.lock();
  ++serving_;
  free_.notify_all();
}

RealWorld::RealWorld(const ChainSpec& spec) : World(spec, 0) {
  for (const DeviceSpec& device : spec.devices) devices_.push_back(std::make_unique<RealDevice>(device));
}

void RealWorld::begin() { begun_ = now_ns(); }

Time RealWorld::now() const { return now_ns() - begun_; }

void RealWorld::compute_on_threads(const std::vector<double>& ns) {
  std::vector<std::jthread> threads;
  for (const double each : ns) threads.emplace_back([each] { burn_cpu(each); });
}

}  // namespace penstock::exam
