#include "lib/exec/slot_gate.h"

#include <algorithm>
#include <mutex>

namespace penstock::exec {
namespace {

bool same(const SlotGate::Run& a, const SlotGate::Run& b) { return !a.owner_before(b) && !b.owner_before(a); }

}  // namespace

bool SlotGate::acquire(const Run& run, std::size_t stage, std::size_t rank) {
  std::lock_guard lock(mutex_);
  if (has_free_slot()) {
    ++in_use_;
    return true;
  }
  waiters_.push_back({run, stage, rank});
  return false;
}

bool SlotGate::is_wanted_before(const Run& run, std::size_t rank) const {
  std::lock_guard lock(mutex_);
  if (in_use() > slots()) return true;
  return std::ranges::any_of(waiters_, [&](const Entry& entry) { return entry.rank > rank || !same(entry.run, run); });
}

void SlotGate::release() {
  {
    std::lock_guard lock(mutex_);
    --in_use_;
    if (waiters_.empty()) return;
  }
  offer_free_slots();
}

void SlotGate::set_slots(std::int64_t slots) {
  {
    std::lock_guard lock(mutex_);
    slots_ = std::max<std::int64_t>(slots, 1);
  }
  offer_free_slots();
}

bool SlotGate::take_waiter(Entry& entry) {
  std::lock_guard lock(mutex_);
  if (!has_free_slot() || waiters_.empty()) return false;
  auto best = waiters_.begin();
  for (auto other = best + 1; other != waiters_.end(); ++other) {
    if (other->rank > best->rank && same(other->run, best->run)) best = other;
  }
  entry = std::move(*best);
  waiters_.erase(best);
  return true;
}

// Who is offered a slot may have lost its need meanwhile: then the next one is asked.
void SlotGate::offer_free_slots() {
  for (Entry entry; take_waiter(entry);) {
    if (auto run = entry.run.lock()) run->slot_is_free(entry.stage);
  }
}

}  // namespace penstock::exec
