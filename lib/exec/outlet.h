// Outlet: what is ready for the consumer. Its depth is the prefetch knob: the credits of the last edge.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include <penstock/snapshot.h>

#include "lib/exec/consumer_clock.h"
#include "lib/exec/packet.h"
#include "lib/exec/trace.h"

namespace penstock::exec {

class Outlet {
 public:
  // Cheap and small slots may wait in greater number than `depth`, up to `widest`.
  Outlet(std::int64_t depth, std::int64_t widest) : widest_(widest), depth_(depth) {}

  void receive(Packet& packet);                    // from the last stage

  // Takes the oldest slot. `credits` is what the last stage is to be given now; it is returned in lumps of half the depth,
  // because each return may have to wake a worker.
  bool pop(Slot& slot, std::int64_t& credits);  // `slot` is empty: what it held would be destroyed under the lock
  void count_taken(bool is_mark) noexcept;         // after each pop() that gave a slot, when its bytes are off the books
  std::int64_t top_up();                           // after the depth was raised, and at the start
  void clear();

  // Waits until something is there, or until the deadline (null: for ever). False: the deadline has passed.
  bool wait(const std::chrono::steady_clock::time_point* deadline);
  // The same for at most a moment: for a consumer that has other work to look for.
  void wait_briefly();
  // Wakes the consumer if it sleeps beside slots, waiting for more that was promised. nudge(), now and then: a call may turn out dearer than
  // its like. wake(): nothing more can come until it takes some.
  void nudge();
  void wake();

  bool has_slots() const noexcept { return ready_.load(std::memory_order_relaxed) > 0; }
  void set_depth(std::int64_t depth);
  std::int64_t depth() const;
  void set_trace(Trace* trace) noexcept { trace_.set(trace); }  // before anything is taken
  void read_consumer_clock() noexcept { clock_.read(); }  // now and then: snapshots show the last reading
  std::int64_t consumer_cpu_ns() const { return clock_.cpu_ns(); }
  void snapshot(ConsumerSnapshot& out) const;

 private:
  void account_full();
  void wake_after(std::int64_t pause_ns);
  bool refill(std::int64_t& credits);
  std::int64_t report();
  std::int64_t lump(std::int64_t at_least);
  std::int64_t capacity() const;

  const std::int64_t widest_;
  // The consumer's thread only: the packet that it is taking from, and how many slots it took since it last said so.
  Slots own_;
  std::size_t own_taken_ = 0;
  std::int64_t unreported_ = 0;
  std::int64_t report_at_ = 1;
  ConsumerClock clock_;
  StepTrace trace_;            // the consumer's thread only, until clear()
  mutable std::mutex mutex_;   // all below. promised_ = credits given and not used + slots here + unreported_
  std::condition_variable arrived_;
  Queue<Slots> packets_;
  std::int64_t promised_ = 0;
  std::int64_t held_ = 0;      // of them, slots that have come: those here and unreported_
  std::int64_t full_since_ = 0;  // 0: more may come
  std::int64_t full_ns_ = 0;
  std::int64_t depth_;
  std::int64_t worth_waiting_ = 0;
  bool somebody_waits_ = false;
  std::int64_t woken_ns_ = 0;  // when it was woken last
  std::int64_t waits_ = 0;
  std::int64_t wait_ns_ = 0;
  std::int64_t waiting_since_ = 0;
  std::atomic<std::int64_t> taken_{0};  // elements and errors
  std::atomic<std::int64_t> ready_{0};  // slots here, own_ among them
};

}  // namespace penstock::exec
