// What a stage of a plant does to an element, done for real: it waits, sleeps, holds a device, and burns CPU time.
#pragma once

#include <penstock/element.h>
#include <penstock/tensor.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "bench/scorecard/spec.h"

namespace penstock::scorecard {

// An element of such a pipeline. Its memory is taken, and not written to: moving bytes is not what these scenarios are about.
struct Item {
  std::int64_t index = 0;  // in the source
  double size = 1;         // factor on the bytes
  Tensor payload;

  friend std::size_t bytes_of(const Item& item) { return item.payload.bytes(); }
};

// What one call does. Times in nanoseconds, before the world's factors over time.
struct Draw {
  double size = 1, blocked_ns = 0, cpu_ns = 0;
  std::int64_t bytes = 0;
};
// The same for the same element in the same stage, whoever asks and when: all runs of a scenario do the same work.
Draw draw(const StageSpec& spec, int stage, std::int64_t index, double size);

// Until the calling thread has used that much CPU time: neighbours make it slower, not dearer. Off by some microseconds.
void burn_cpu(double ns);
void sleep_ns(double ns);

// A disk that takes some requests at once, or a lock that all calls hold in turn and that takes the longer the more crowd around
// it. Any thread.
class RealDevice {
 public:
  explicit RealDevice(DeviceSpec spec) : spec_(std::move(spec)) {}

  // Waits for its turn and for the service. `ns`: of the service alone; `calls`: the same as a share of the average call.
  void serve(double ns, double calls);

 private:
  void hold_slot(double ns);
  void hold_lock(double calls);

  const DeviceSpec spec_;
  std::mutex mutex_;
  std::condition_variable free_;
  int busy_ = 0;
  std::int64_t next_ticket_ = 0, serving_ = 0;  // of a lock: who is served has its turn
  Time lock_free_at_ = 0;                       // of the clock that now_ns() reads; belongs to who is served
};

// How many calls are under way. Any thread.
class InFlight {
 public:
  void enter() {
    const std::int64_t now = ++now_;
    for (std::int64_t seen = most_; seen < now && !most_.compare_exchange_weak(seen, now);) {
    }
  }
  void leave() { --now_; }
  // The most since it was asked last.
  std::int64_t take_most() { return most_.exchange(now_); }

 private:
  std::atomic<std::int64_t> now_{0}, most_{0};
};

// What the calls of one run share. Any thread.
class RealWorld {
 public:
  explicit RealWorld(const ChainSpec& spec);

  void begin();      // its clock, once, before the run's first request
  Time now() const;  // since then
  RealDevice& device(int index) { return *devices_[static_cast<std::size_t>(index)]; }
  void made(int stage, std::int64_t bytes);
  std::int64_t one_element_of_each_stage() const;  // bytes of the largest ones so far

  InFlight calls, waiting_calls;  // of all stages that are not serial; of those that wait

 private:
  Time begun_ = 0;
  std::vector<std::unique_ptr<RealDevice>> devices_;
  std::vector<std::atomic<std::int64_t>> largest_;
};

// For the length of one call.
class CallScope {
 public:
  CallScope(RealWorld& world, const StageSpec& spec);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  RealWorld& world_;
  const bool counts_, waits_;
};

}  // namespace penstock::scorecard
