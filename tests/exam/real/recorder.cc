#include "tests/exam/real/recorder.h"

#include <cstddef>
#include <utility>

#include "lib/core/clock.h"

namespace penstock::exam {
namespace {

constexpr Time kTick = 10 * kMillisecond;

clockid_t clock_of_this_thread() {
  clockid_t clock{};
  ::pthread_getcpuclockid(::pthread_self(), &clock);
  return clock;
}

}  // namespace

Recorder::Recorder(detail::RunCore& run, RealWorld& world)
    : run_(run),
      world_(world),
      knobs_(run.knobs()),
      consumer_clock_(clock_of_this_thread()),
      cpu_before_(cpu_of_workers()) {
  for (const Knob& knob : knobs_) values_.push_back(knob.get());
  thread_ = std::jthread([this](const std::stop_token& stop) { look_until_told(stop); });
}

std::vector<Sample> Recorder::stop() {
  thread_.request_stop();
  thread_.join();
  return std::move(samples_);
}

// Where it comes too late, what it sees then stands for the looks that it has missed, too. On a busy machine that may
// be the only one.
void Recorder::look_until_told(const std::stop_token& stop) {
  do {
    const auto due = static_cast<Time>(samples_.size() + 1) * kTick;
    sleep_ns(static_cast<double>(due - world_.now()));
    const Sample seen = look();
    while (static_cast<Time>(samples_.size() + 1) * kTick <= seen.time) samples_.push_back(seen);
  } while (!stop.stop_requested());
}

Sample Recorder::look() {
  const Snapshot now = run_.snapshot();
  return {.time = world_.now(),
          .taken = now.consumer.taken,
          .calls = world_.calls.take_most(),
          .pool_calls = world_.waiting_calls.take_most(),
          .bytes = now.memory_used,
          .prefetch = now.consumer.prefetch,
          .cpu_ns = static_cast<double>(cpu_of_workers() - cpu_before_),
          .changes = count_changes()};
}

std::int64_t Recorder::count_changes() {
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    const std::int64_t value = knobs_[i].get();
    changes_ += std::exchange(values_[i], value) != value;
  }
  return changes_;
}

std::int64_t Recorder::cpu_of_workers() const {
  return process_cpu_ns() - penstock::detail::read_clock(consumer_clock_);
}

}  // namespace penstock::exam
