// Outlet: what is ready for the consumer. Its depth is the prefetch knob: the credits of the last edge.
//
// The consumer takes slots from the packet in its hands. When that is empty, it gets the next one of the arrivals, or
// waits. What it has taken makes room for more.
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
#include "lib/exec/arrivals.h"
#include "lib/exec/consumer_clock.h"
#include "lib/exec/consumer_wait.h"
#include "lib/exec/outlet_room.h"
#include "lib/exec/packet.h"
#include "lib/exec/packet_in_hand.h"
#include "lib/exec/trace.h"

namespace penstock::exec {

class Outlet {
 public:
  // Cheap and small slots may wait in greater number than `depth`, up to `widest`.
  Outlet(std::int64_t depth, std::int64_t widest, const Machine& machine)
      : machine_(machine),
        clock_(machine),
        trace_(machine),
        arrived_(machine.make_signal()),
        room_(depth, widest, machine),
        wait_(machine) {}

  void receive(Packet& packet) EXCLUDES(mutex_);  // from the last stage

  // Takes the oldest slot. `credits` is what the last stage is to be given now; it is returned in lumps of half the
  // depth, because each return may have to wake a worker.
  bool pop(Slot& slot, std::int64_t& credits)
      EXCLUDES(mutex_);                     // `slot` is empty: what it held would be destroyed under the lock
  void count_taken(bool is_mark) noexcept;  // after each pop() that gave a slot, when its bytes are off the books
  std::int64_t top_up() EXCLUDES(mutex_);   // after the depth was raised, and at the start
  void clear() EXCLUDES(mutex_);

  // Waits until something is there, or until the deadline. False: the deadline has passed. Meanwhile calls `look` now
  // and then, without a lock; `look` returns after how long to call it again. Also calls it at the deadline, unless it
  // was called less than `first_look` ago.
  using WhileWaiting = std::function<std::chrono::nanoseconds()>;
  bool wait(std::int64_t deadline, std::chrono::nanoseconds first_look, const WhileWaiting& look) EXCLUDES(mutex_);
  // Both wake the consumer if it sleeps although slots are here, since more was promised (ConsumerWait). nudge() is for
  // now and then: what was promised may take longer than expected. wake(): nothing can come until it takes some.
  void nudge();
  void wake();
  // Nothing more comes: the consumer gets what is there, and then `cause`.
  void fail(std::exception_ptr cause) noexcept EXCLUDES(mutex_);
  std::exception_ptr failure() const noexcept EXCLUDES(mutex_);

  const std::atomic<std::int64_t>& ready() const noexcept { return ready_; }  // slots that are here
  bool has_slots() const noexcept { return ready_.load(std::memory_order_relaxed) > 0; }
  void set_depth(std::int64_t depth) EXCLUDES(mutex_);
  std::int64_t depth() const EXCLUDES(mutex_);
  void set_trace(Trace* trace) noexcept { trace_.set(trace); }  // before anything is taken
  ConsumerClock& consumer_clock() noexcept {
    return clock_;
  }  // to be read now and then: snapshots show the last reading
  void snapshot(ConsumerSnapshot& out) const EXCLUDES(mutex_);

 private:
  bool sleep_until(std::int64_t moment) REQUIRES(mutex_);
  std::int64_t look_without_lock(const WhileWaiting& look) REQUIRES(mutex_);
  bool is_worth_waking(const Packet& packet, std::int64_t ready) const REQUIRES(mutex_);
  void wake_after(std::int64_t pause_ns) EXCLUDES(mutex_);
  bool refill(std::int64_t& credits) EXCLUDES(mutex_);
  std::int64_t report() REQUIRES(mutex_);

  const Machine& machine_;
  alignas(kCacheLine) PacketInHand hand_;  // the consumer's thread only, as all up to the lock
  ConsumerClock clock_;
  std::int64_t looked_ns_ = 0;  // when it looked last
  StepTrace trace_;             // until clear()
  // room_ still counts slots as held that the consumer has taken and hand_ has not reported
  alignas(kCacheLine) mutable Mutex mutex_;
  const std::unique_ptr<Signal> arrived_;
  Arrivals arrivals_ GUARDED_BY(mutex_);
  OutletRoom room_ GUARDED_BY(mutex_);
  ConsumerWait wait_ GUARDED_BY(mutex_);
  alignas(kCacheLine) std::atomic<std::int64_t> taken_{0};  // elements and errors. These two: each next() writes them
  std::atomic<std::int64_t> ready_{0};                      // slots here, those in hand among them
};

}  // namespace penstock::exec
