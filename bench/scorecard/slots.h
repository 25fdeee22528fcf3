// SlotGate: CPU slots (or threads of the pool) of the process, as lib/exec/slot_gate.h gives them out: to the run that has waited longest, and there
// to the stage of the highest rank. MemoryBudget: the bytes of one run, as lib/exec/memory_budget.h counts them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace penstock::scorecard {

class Stage;

class SlotGate {
 public:
  struct Run {
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::int64_t in_use = 0;
    bool has_room() const noexcept { return in_use < most; }
  };

  explicit SlotGate(std::int64_t slots) : slots_(slots) {}

  bool acquire(Run& run, Stage& stage, std::int64_t rank);  // false: the stage is told when there is one
  bool is_wanted_before(const Run& run, std::int64_t rank) const;
  void release(Run& run);
  void set_slots(std::int64_t slots);
  void set_most(Run& run, std::int64_t most);
  std::int64_t slots() const noexcept { return slots_; }
  std::int64_t in_use() const noexcept { return in_use_; }
  bool has_free_slot(const Run& run) const noexcept { return in_use_ < slots_ && run.has_room(); }

 private:
  struct Waiter {
    Run* run;
    Stage* stage;
    std::int64_t rank;
  };
  void offer();

  std::int64_t slots_;
  std::int64_t in_use_ = 0;
  std::vector<Waiter> waiters_;
};

class MemoryBudget {
 public:
  // `kept`: for others that go first.
  bool reserve(std::int64_t bytes, bool forced, std::int64_t kept = 0) {
    if (!forced && used + bytes + kept > limit) {
      note_need(bytes + kept);
      return false;
    }
    charge(bytes);
    return true;
  }
  void note_need(std::int64_t bytes) { least_needed = std::min(least_needed, bytes); }
  void charge(std::int64_t bytes) {
    used += bytes;
    peak = std::max(peak, used);
    peak_lately = std::max(peak_lately, used);
  }
  void settle(std::int64_t reserved, std::int64_t input, std::int64_t output) {
    if (output > reserved) {
      charge(output - reserved);
      overshoot += output - reserved;
      was_overshot = was_overshot || used > limit;
    } else {
      used -= reserved - output;
    }
    used -= input;
  }
  bool take_wake_up() {
    if (least_needed == kNobody || used + least_needed > limit) return false;
    least_needed = kNobody;
    return true;
  }

  static constexpr std::int64_t kNobody = std::numeric_limits<std::int64_t>::max();
  std::int64_t limit = 0, used = 0, peak = 0, overshoot = 0;
  std::int64_t peak_lately = 0;  // since somebody has set it back
  std::int64_t least_needed = kNobody;
  bool was_overshot = false;
};

}  // namespace penstock::scorecard
