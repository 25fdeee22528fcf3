#include "lib/exec/memory_budget.h"

namespace penstock::exec {

void MemoryBudget::note_peak(std::int64_t used) noexcept {
  std::int64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < used && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
}

void MemoryBudget::charge(std::int64_t bytes) noexcept {
  note_peak(used_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
}

bool MemoryBudget::reserve(std::int64_t bytes, bool forced) noexcept {
  if (forced) {
    charge(bytes);
    return true;
  }
  std::int64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (used + bytes > limit()) {
      refusals_.fetch_add(1, std::memory_order_relaxed);
      // Sequentially consistent, as the load in take_wake_up: either the refused stage's flag is seen by the release that
      // makes room, or the stage's second look sees the room.
      somebody_waits_.store(true, std::memory_order_seq_cst);
      return false;
    }
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_seq_cst));
  note_peak(used + bytes);
  return true;
}

void MemoryBudget::settle(std::int64_t reserved, std::int64_t input, std::int64_t output) noexcept {
  const std::int64_t more = output - reserved;
  const std::int64_t used = used_.fetch_add(more, std::memory_order_seq_cst) + more;
  note_peak(used);
  if (more > 0) {
    overshoot_.fetch_add(more, std::memory_order_relaxed);
    if (used > limit()) overshot_.store(true, std::memory_order_relaxed);
  }
  used_.fetch_sub(input, std::memory_order_seq_cst);
}

bool MemoryBudget::take_wake_up() noexcept {
  if (!somebody_waits_.load(std::memory_order_seq_cst)) return false;
  if (used() >= limit()) return false;
  return somebody_waits_.exchange(false, std::memory_order_seq_cst);
}

void MemoryBudget::set_limit(std::int64_t limit) noexcept { limit_.store(limit, std::memory_order_relaxed); }

}  // namespace penstock::exec
