// ConsumerClock: what the consumer's thread uses of the CPU, and how long it waits for one. The consumer says who it
// is, the controller's thread reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include <penstock/snapshot.h>

#include "lib/base/mutex.h"
#include "lib/core/machine.h"

namespace penstock::exec {

class ConsumerClock {
 public:
  explicit ConsumerClock(const Machine& machine) : machine_(machine) {}

  // The consumer takes elements on this thread now. Costs 3 ns if it is the same thread as before. A consumer that
  // changes threads again and again is followed at most every 10 ms.
  void called_here() noexcept {
    if (machine_.thread_number() != thread_ || has_ended_.load(std::memory_order_relaxed)) change_thread();
  }
  // Any thread, as all below. Of the delay, which costs most, each tenth time.
  void read() noexcept EXCLUDES(mutex_);
  std::int64_t cpu_ns() const EXCLUDES(mutex_);  // as last read; -1: not known
  void snapshot(ConsumerSnapshot& out) const EXCLUDES(mutex_);

 private:
  void change_thread() noexcept EXCLUDES(mutex_);
  void count(bool delay_too) noexcept REQUIRES(mutex_);

  const Machine& machine_;
  int thread_ = 0;  // these two: the consumer's thread only. 0: nobody has come yet
  std::int64_t changed_ns_ = 0;
  std::atomic<bool> has_ended_{false};  // the thread that is read; a new one may have its id
  mutable Mutex mutex_;
  std::unique_ptr<ThreadMeter> meter_ GUARDED_BY(mutex_);  // null: nobody has come yet, or its thread has ended
  ThreadMeter::Reading last_ GUARDED_BY(mutex_);
  std::int64_t reads_ GUARDED_BY(mutex_) = 0;
  bool knows_cpu_ GUARDED_BY(mutex_) = false;
  bool knows_delay_ GUARDED_BY(mutex_) = false;
  std::int64_t cpu_so_far_ GUARDED_BY(mutex_) = 0;  // of all threads that it was; so the next one
  std::int64_t delay_so_far_ GUARDED_BY(mutex_) = 0;
  // these two: the same as last read; -1: not known, or nobody reads (a serial run)
  std::int64_t cpu_ns_ GUARDED_BY(mutex_) = -1;
  std::int64_t delay_ns_ GUARDED_BY(mutex_) = -1;
};

}  // namespace penstock::exec
