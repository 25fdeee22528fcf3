// MemoryBudget: the bytes that the elements of one run may hold, all stages together.
//
// A stage reserves room for the results of a call before it starts, and settles the difference afterwards. Where a hint
// tells the size, `used` never passes the limit by more than one element per stage, or by a 256th of the limit where
// elements are smaller: the local rule of progress (a stage may always start its oldest element while all is empty up
// to the next one that reserves) is what keeps a pipeline moving that needs more than the limit, and is the only way
// past it.
// Without hints a call may turn out larger than reserved; that is counted as overshoot.
//
// Lock-free: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "lib/core/cache_line.h"

namespace penstock::exec {

class MemoryBudget {
 public:
  explicit MemoryBudget(std::int64_t limit) noexcept : limit_(limit) {}

  // Takes `bytes` if they fit beside the `kept` bytes, which are for others who go first. If `forced`, it always takes
  // them. A refusal asks for a wake-up: see take_wake_up().
  bool reserve(std::int64_t bytes, bool forced, std::int64_t kept = 0) noexcept;

  // Whether reserve() would take them. Asks for nothing.
  bool has_room(std::int64_t bytes, std::int64_t kept) const noexcept {
    return used_.load(std::memory_order_seq_cst) + bytes + kept <= limit();
  }

  // Asks for a wake-up as soon as there is room for `bytes`. 0: for stages that were refused because of bytes kept for
  // others, when these are kept no more.
  void note_need(std::int64_t bytes) noexcept;

  // After a call that had reserved `reserved`, consumed input of `input` bytes and gave `output` bytes.
  void settle(std::int64_t reserved, std::int64_t input, std::int64_t output) noexcept;

  // A call holds so many bytes more than it had reserved. They are charged, whether there is room or not, and counted.
  void overshoot(std::int64_t bytes) noexcept;

  // Sequentially consistent for the sake of take_wake_up(), which follows: see reserve().
  void release(std::int64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_seq_cst); }
  void charge(std::int64_t bytes) noexcept;

  // True once after a refusal, as soon as the smallest request that was refused would fit: the caller then offers the
  // room to the stages that wait.
  bool take_wake_up() noexcept;

  void set_limit(std::int64_t limit) noexcept;
  std::int64_t limit() const noexcept { return limit_.load(std::memory_order_seq_cst); }
  std::int64_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  std::int64_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }
  std::int64_t overshot_bytes() const noexcept { return overshoot_.load(std::memory_order_relaxed); }
  // The limit has been passed because a call was larger than reserved: estimates must be careful from now on.
  bool was_overshot() const noexcept { return overshot_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::int64_t kNobody = std::numeric_limits<std::int64_t>::max();

  void note_peak(std::int64_t used) noexcept;

  alignas(kCacheLine) std::atomic<std::int64_t> used_{0};  // each call of each stage writes it
  alignas(kCacheLine) std::atomic<std::int64_t> limit_;    // what follows is mostly read
  std::atomic<std::int64_t> peak_{0};
  std::atomic<std::int64_t> overshoot_{0};
  std::atomic<bool> overshot_{false};
  std::atomic<std::int64_t> least_needed_{kNobody};  // of those refused since the last wake-up
};

}  // namespace penstock::exec
