#include "lib/exec/memory_budget.h"

namespace penstock::exec {

void MemoryBudget::note_peak(std::int64_t used) noexcept {
  std::int64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < used && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
}

void MemoryBudget::charge(std::int64_t bytes) noexcept {
  note_peak(used_.fetch_add(bytes, std::memory_order_seq_cst) + bytes);  // less than nothing, it is a release
}

bool MemoryBudget::reserve(std::int64_t bytes, bool forced, std::int64_t kept) noexcept {
  if (forced) {
    charge(bytes);
    return true;
  }
  std::int64_t used = used_.load(std::memory_order_seq_cst);
  do {
    if (used + bytes + kept > limit()) {
      note_need(bytes + kept);
      return false;
    }
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_seq_cst));
  note_peak(used + bytes);
  return true;
}

void MemoryBudget::settle(std::int64_t reserved, std::int64_t input, std::int64_t output) noexcept {
  if (output > reserved) {
    overshoot(output - reserved);
  } else {
    release(reserved - output);
  }
  release(input);
}

void MemoryBudget::overshoot(std::int64_t bytes) noexcept {
  charge(bytes);
  overshoot_.fetch_add(bytes, std::memory_order_relaxed);
  if (used() > limit()) overshot_.store(true, std::memory_order_relaxed);
}

// Sequentially consistent, as release() and the loads: either the release that makes room sees the need, or the refused
// stage's second look sees the room.
void MemoryBudget::note_need(std::int64_t bytes) noexcept {
  std::int64_t least = least_needed_.load(std::memory_order_seq_cst);
  while (bytes < least && !least_needed_.compare_exchange_weak(least, bytes, std::memory_order_seq_cst)) {
  }
}

// Not before the least of the needs can be met: waking a stage that is refused again would go round for ever.
bool MemoryBudget::take_wake_up() noexcept {
  const std::int64_t least = least_needed_.load(std::memory_order_seq_cst);
  if (least == kNobody || used() + least > limit()) return false;
  return least_needed_.exchange(kNobody, std::memory_order_seq_cst) != kNobody;
}

// As release().
void MemoryBudget::set_limit(std::int64_t limit) noexcept { limit_.store(limit, std::memory_order_seq_cst); }

}  // namespace penstock::exec
