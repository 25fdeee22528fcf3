#include "lib/exec/permit_gate.h"

#include <algorithm>
#include <utility>

namespace penstock::exec {

bool PermitGate::acquire(const RunRef& run, std::size_t stage, std::size_t rank) {
  MutexLock lock(mutex_);
  if (has_free_permit(*run)) {
    change(*run, 1, 0);
    return true;
  }
  waiters_.push_back({run, stage, rank});
  waiting_ = waiters_.size();
  return false;
}

// Asked after every dear call of every thread, so without the lock where nobody waits.
bool PermitGate::is_wanted_before(const RunRef& run, std::size_t rank) const {
  if (in_use() > permits() || run->in_use_.load(std::memory_order_relaxed) > run->most()) return true;
  if (waiting_ == 0) return false;
  MutexLock lock(mutex_);
  return std::ranges::any_of(
      waiters_, [&](const Entry& entry) { return entry.run == run ? entry.rank > rank : entry.run->has_room(); });
}

void PermitGate::release(const RunRef& run) {
  {
    MutexLock lock(mutex_);
    change(*run, -1, 0);
    if (waiters_.empty()) return;
  }
  offer_free_permits();
}

void PermitGate::set_permits(std::int64_t permits) {
  {
    MutexLock lock(mutex_);
    permits_ = std::max<std::int64_t>(permits, 1);
  }
  offer_free_permits();
}

void PermitGate::set_most(const RunRef& run, std::int64_t most) {
  {
    MutexLock lock(mutex_);
    run->most_ = std::max<std::int64_t>(most, 1);
  }
  offer_free_permits();
}

void PermitGate::change(Run& run, std::int64_t in_use, std::int64_t lent) {
  const std::int64_t on_loan = run.on_loan();
  run.in_use_ += in_use;
  run.lent_ += lent;
  in_use_ += in_use - (run.on_loan() - on_loan);
}

void PermitGate::lend(const RunRef& run, std::int64_t permits) {
  {
    MutexLock lock(mutex_);
    change(*run, 0, permits);
    if (permits < 0 || waiters_.empty()) return;
  }
  offer_free_permits();
}

// The longest wait decides which run, the rank which of its stages. That uses up this wait: who is passed over stands
// where the other stood.
bool PermitGate::take_waiter(Entry& entry) {
  MutexLock lock(mutex_);
  const auto oldest =
      std::ranges::find_if(waiters_, [this](const Entry& other) { return has_free_permit(*other.run); });
  if (oldest == waiters_.end()) return false;
  auto best = oldest;
  for (auto other = oldest + 1; other != waiters_.end(); ++other) {
    if (other->run == oldest->run && other->rank > best->rank) best = other;
  }
  entry = std::exchange(*best, *oldest);
  waiters_.erase(oldest);
  waiting_ = waiters_.size();
  return true;
}

// Who is offered a permit may have lost its need meanwhile: then the next one is asked.
void PermitGate::offer_free_permits() {
  for (Entry entry; take_waiter(entry);) {
    if (auto waiter = entry.run->waiter_.lock()) waiter->permit_is_free(entry.stage);
  }
}

}  // namespace penstock::exec
