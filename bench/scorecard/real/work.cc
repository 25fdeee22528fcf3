#include "bench/scorecard/real/work.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>
#include <utility>

#include "bench/scorecard/random.h"
#include "lib/core/clock.h"

namespace penstock::scorecard {
namespace {

constexpr int kStepsBetweenClocks = 4'000;  // some 4 us: reading the clock takes half a microsecond

Random random_of(int stage, std::int64_t index) {
  return Random(64 * static_cast<std::uint64_t>(index) + static_cast<std::uint64_t>(stage));
}

}  // namespace

Draw draw(const StageSpec& spec, int stage, std::int64_t index, double size) {
  Random random = random_of(stage, index);
  Draw result;
  result.size = spec.size.is_zero() ? size : spec.size.draw(random);
  result.bytes = static_cast<std::int64_t>(spec.result_bytes * result.size);
  const double longer = spec.time_follows_size ? result.size : 1;
  result.blocked_ns = longer * spec.blocked.draw(random);
  result.cpu_ns = longer * spec.cpu.draw(random);
  return result;
}

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

// One call after the other in the order in which they come, so that n that crowd get spec_.rates[n - 1] calls a second together. A
// sleep ends late: the next one is as much shorter, as far as that is not idleness.
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

RealWorld::RealWorld(const ChainSpec& spec) : largest_(spec.stages.size() + 1) {
  for (const DeviceSpec& device : spec.devices) devices_.push_back(std::make_unique<RealDevice>(device));
}

void RealWorld::begin() { begun_ = now_ns(); }

Time RealWorld::now() const { return now_ns() - begun_; }

void RealWorld::made(int stage, std::int64_t bytes) {
  auto& largest = largest_[static_cast<std::size_t>(stage)];
  for (std::int64_t seen = largest; seen < bytes && !largest.compare_exchange_weak(seen, bytes);) {
  }
}

std::int64_t RealWorld::one_element_of_each_stage() const {
  return std::accumulate(largest_.begin(), largest_.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& each) { return sum + each.load(); });
}

CallScope::CallScope(RealWorld& world, const StageSpec& spec)
    : world_(world), counts_(!spec.serial), waits_(counts_ && spec.form == StageSpec::Form::blocks) {
  if (counts_) world_.calls.enter();
  if (waits_) world_.waiting_calls.enter();
}

CallScope::~CallScope() {
  if (counts_) world_.calls.leave();
  if (waits_) world_.waiting_calls.leave();
}

}  // namespace penstock::scorecard
