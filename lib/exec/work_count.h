// WorkCount: how much of a run's work is out on other threads, and waiting until none is.
//
// TBB's own wait will not do: a thread that waits there takes a place in the arena. Then the last token finds no place,
// is put off, and TBB wakes a worker of its own for it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "lib/base/mutex.h"

namespace penstock::exec {

class WorkCount {
 public:
  // By whoever knows that the count cannot be waited for meanwhile.
  void begin() noexcept { out_.fetch_add(1, std::memory_order_relaxed); }

  // The caller's last touch: whoever waits may take everything down now.
  void end() {
    std::int64_t out = out_.load(std::memory_order_relaxed);
    while (out > 1) {
      if (out_.compare_exchange_weak(out, out - 1, std::memory_order_acq_rel, std::memory_order_relaxed)) return;
    }
    MutexLock lock(mutex_);
    if (out_.fetch_sub(1, std::memory_order_acq_rel) == 1) none_.notify_all();
  }

  void wait() {
    MutexLock lock(mutex_);
    while (!is_none()) none_.wait(mutex_);
  }
  bool wait_for(std::chrono::nanoseconds time) {
    MutexLock lock(mutex_);
    return none_.wait_for(mutex_, time, [this] { return is_none(); });
  }

 private:
  bool is_none() const noexcept { return out_.load(std::memory_order_acquire) == 0; }

  std::atomic<std::int64_t> out_{
      0};  // becomes 0 with the mutex held only, so that nobody who waits misses it or leaves while it is told
  Mutex mutex_;
  CondVar none_;
};

}  // namespace penstock::exec
