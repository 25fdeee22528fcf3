#include "lib/exec/slot_gate.h"

#include <algorithm>

namespace penstock::exec {

bool SlotGate::acquire(const std::weak_ptr<Waiter>& waiter, std::size_t stage) {
  std::lock_guard lock(mutex_);
  if (in_use_ < slots_) {
    ++in_use_;
    return true;
  }
  waiters_.push_back({waiter, stage});
  return false;
}

bool SlotGate::is_wanted_before(const std::weak_ptr<Waiter>& waiter, std::size_t stage, std::size_t feeders) const {
  std::lock_guard lock(mutex_);
  if (in_use_ > slots_) return true;
  return std::ranges::any_of(waiters_, [&](const Entry& entry) {
    const bool other_run = entry.waiter.owner_before(waiter) || waiter.owner_before(entry.waiter);
    return other_run || entry.stage > stage || entry.stage < feeders;
  });
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

// The most downstream waiter; among equals the one that has waited longest.
bool SlotGate::take_waiter(Entry& entry) {
  std::lock_guard lock(mutex_);
  if (in_use_ >= slots_ || waiters_.empty()) return false;
  auto best = std::max_element(waiters_.begin(), waiters_.end(),
                               [](const Entry& a, const Entry& b) { return a.stage < b.stage; });
  entry = std::move(*best);
  waiters_.erase(best);
  return true;
}

// Who is offered a slot may have lost its need meanwhile: then the next one is asked.
void SlotGate::offer_free_slots() {
  for (Entry entry; take_waiter(entry);) {
    if (auto waiter = entry.waiter.lock()) waiter->slot_is_free(entry.stage);
  }
}

std::int64_t SlotGate::slots() const {
  std::lock_guard lock(mutex_);
  return slots_;
}

std::int64_t SlotGate::in_use() const {
  std::lock_guard lock(mutex_);
  return in_use_;
}

}  // namespace penstock::exec
