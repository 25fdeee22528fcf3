// Outlet: what is ready for the consumer. Its depth is the prefetch knob: the credits of the last edge.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>

#include <penstock/snapshot.h>

#include "lib/base/mutex.h"
#include "lib/core/cache_line.h"
#include "lib/core/machine.h"
#include "lib/exec/consumer_clock.h"
#include "lib/exec/packet.h"
#include "lib/exec/trace.h"

namespace penstock::exec {

class Outlet {
 public:
  // Cheap and small slots may wait in greater number than `depth`, up to `widest`.
  Outlet(std::int64_t depth, std::int64_t widest, const Machine& machine)
      : machine_(machine), widest_(widest), clock_(machine), trace_(machine), arrived_(machine.make_signal()), depth_(depth) {}

  void receive(Packet& packet) EXCLUDES(mutex_);  // from the last stage

  // Takes the oldest slot. `credits` is what the last stage is to be given now; it is returned in lumps of half the depth,
  // because each return may have to wake a worker.
  bool pop(Slot& slot, std::int64_t& credits) EXCLUDES(mutex_);  // `slot` is empty: what it held would be destroyed under the lock
  void count_taken(bool is_mark) noexcept;         // after each pop() that gave a slot, when its bytes are off the books
  std::int64_t top_up() EXCLUDES(mutex_);  // after the depth was raised, and at the start
  void clear() EXCLUDES(mutex_);

  // Waits until something is there, or until the deadline. False: the deadline has passed. Meanwhile calls `look` now and then,
  // without a lock; it says after how long to call it again. At the deadline, too, if the last look is as long ago as `first_look`.
  using Look = std::function<std::chrono::nanoseconds()>;
  bool wait(std::int64_t deadline, std::chrono::nanoseconds first_look, const Look& look) EXCLUDES(mutex_);
  // The same for at most a moment: for a consumer that has other work to look for.
  void wait_briefly() EXCLUDES(mutex_);
  // Wakes the consumer if it sleeps beside slots, waiting for more that was promised. nudge(), now and then: a call may turn out dearer than
  // its like. wake(): nothing more can come until it takes some.
  void nudge();
  void wake();
  // Nothing more comes: who takes from here is to get this, when it has had what is there.
  void fail(std::exception_ptr cause) noexcept EXCLUDES(mutex_);
  std::exception_ptr failure() const noexcept EXCLUDES(mutex_);

  const std::atomic<std::int64_t>& ready() const noexcept { return ready_; }  // slots that are here
  bool has_slots() const noexcept { return ready_.load(std::memory_order_relaxed) > 0; }
  void set_depth(std::int64_t depth) EXCLUDES(mutex_);
  std::int64_t depth() const EXCLUDES(mutex_);
  void set_trace(Trace* trace) noexcept { trace_.set(trace); }  // before anything is taken
  void read_consumer_clock() noexcept { clock_.read(); }  // now and then: snapshots show the last reading
  std::int64_t consumer_cpu_ns() const { return clock_.cpu_ns(); }
  void snapshot(ConsumerSnapshot& out) const EXCLUDES(mutex_);

 private:
  bool sleep_until(std::int64_t moment) REQUIRES(mutex_);
  std::int64_t look_without_lock(const Look& look) REQUIRES(mutex_);
  void account_full() REQUIRES(mutex_);
  bool keep(Slots& slots) noexcept REQUIRES(mutex_);
  void call_consumer() REQUIRES(mutex_);
  bool is_worth_waking() const REQUIRES(mutex_);
  void wake_after(std::int64_t pause_ns) EXCLUDES(mutex_);
  bool refill(std::int64_t& credits) EXCLUDES(mutex_);
  std::int64_t report() REQUIRES(mutex_);
  std::int64_t lump(std::int64_t at_least) REQUIRES(mutex_);
  std::int64_t capacity() const REQUIRES(mutex_);

  const Machine& machine_;
  const std::int64_t widest_;
  // The consumer's thread only: the packet that it is taking from, and how many slots it took since it last said so.
  alignas(kCacheLine) Slots own_;
  std::size_t own_taken_ = 0;
  std::int64_t unreported_ = 0;
  std::int64_t report_at_ = 1;
  ConsumerClock clock_;
  std::int64_t looked_ns_ = 0;  // when it looked last
  StepTrace trace_;            // the consumer's thread only, until clear()
  alignas(kCacheLine) mutable Mutex mutex_;  // promised_ = credits given and not used + slots here + unreported_
  const std::unique_ptr<Signal> arrived_;
  Queue<Slots> packets_ GUARDED_BY(mutex_);
  std::int64_t promised_ GUARDED_BY(mutex_) = 0;
  std::int64_t held_ GUARDED_BY(mutex_) = 0;  // of them, slots that have come: those here and unreported_
  std::int64_t full_since_ GUARDED_BY(mutex_) = 0;  // 0: more may come
  std::int64_t full_ns_ GUARDED_BY(mutex_) = 0;
  std::int64_t depth_ GUARDED_BY(mutex_);
  std::int64_t worth_waiting_ GUARDED_BY(mutex_) = 0;
  bool somebody_waits_ GUARDED_BY(mutex_) = false;
  bool is_called_ GUARDED_BY(mutex_) = false;  // whoever waits has been woken
  std::exception_ptr failure_ GUARDED_BY(mutex_);  // null: all is well
  std::int64_t woken_ns_ GUARDED_BY(mutex_) = 0;  // when it was woken last
  std::int64_t waits_ GUARDED_BY(mutex_) = 0;
  std::int64_t wait_ns_ GUARDED_BY(mutex_) = 0;
  std::int64_t waiting_since_ GUARDED_BY(mutex_) = 0;
  alignas(kCacheLine) std::atomic<std::int64_t> taken_{0};  // elements and errors. These two: each next() writes them
  std::atomic<std::int64_t> ready_{0};  // slots here, own_ among them
};

}  // namespace penstock::exec
