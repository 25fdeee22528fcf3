#include "bench/scorecard/slots.h"

#include <utility>

#include "bench/scorecard/stage.h"

namespace penstock::scorecard {

bool SlotGate::acquire(Run& run, Stage& stage, std::int64_t rank) {
  if (has_free_slot(run)) {
    ++in_use_;
    ++run.in_use;
    return true;
  }
  waiters_.push_back({&run, &stage, rank});
  return false;
}

bool SlotGate::is_wanted_before(const Run& run, std::int64_t rank) const {
  if (in_use_ > slots_ || run.in_use > run.most) return true;
  return std::ranges::any_of(waiters_, [&](const Waiter& waiter) {
    return waiter.run == &run ? waiter.rank > rank : waiter.run->has_room();
  });
}

void SlotGate::release(Run& run) {
  --in_use_;
  --run.in_use;
  offer();
}

void SlotGate::set_slots(std::int64_t slots) {
  slots_ = std::max<std::int64_t>(slots, 1);
  offer();
}

void SlotGate::set_most(Run& run, std::int64_t most) {
  run.most = std::max<std::int64_t>(most, 1);
  offer();
}

// Who is passed over stands where the other stood.
void SlotGate::offer() {
  for (;;) {
    const auto oldest = std::ranges::find_if(waiters_, [this](const Waiter& waiter) { return has_free_slot(*waiter.run); });
    if (oldest == waiters_.end()) return;
    auto best = oldest;
    for (auto other = oldest + 1; other != waiters_.end(); ++other) {
      if (other->run == oldest->run && other->rank > best->rank) best = other;
    }
    Stage* stage = std::exchange(*best, *oldest).stage;
    waiters_.erase(oldest);
    stage->slot_is_free();
  }
}

}  // namespace penstock::scorecard
