// Stage: tokens, permissions to run the oldest waiting group.
#include <algorithm>

#include "lib/exec/stage.h"

namespace penstock::exec {

// Counts out new tokens for what is ready; the caller launches them. A token in hand but not yet running will take one group
// itself, so only groups beyond those need another.
std::int64_t Stage::claim_tokens() {
  if (waits_for_memory_ && !ready_.empty() && may_force(*ready_.front())) waits_for_memory_ = false;
  if (waits_for_slot_ || waits_for_memory_) return 0;
  const auto ready = static_cast<std::int64_t>(ready_.size());
  std::int64_t idle = tokens_ - (running_ - detached_);
  std::int64_t claimed = 0;
  while (tokens_ + detached_ < parallelism_ && idle < ready) {
    if (!on_pool_ && !host_.acquire_cpu_slot(index_)) {
      waits_for_slot_ = true;
      break;
    }
    ++tokens_;
    ++idle;
    ++claimed;
  }
  return claimed;
}

bool Stage::may_run(bool on_pool) const {
  return !host_.stopped() && on_pool == on_pool_ && tokens_ + detached_ <= parallelism_ && !waits_for_memory_;
}

// Runs group after group. A pool thread stays while there is work; a compute thread gives its CPU slot back after some 50 us, so
// that more downstream stages come to their turn.
void Stage::run_token(bool on_pool) noexcept {
  const std::int64_t until = host_.now() + (one_at_a_time_ ? 0 : 50'000);
  Lock lock(mutex_);
  while (may_run(on_pool)) {
    Group* group = claim_group(lock);
    if (group == nullptr) break;
    run_group(*group, lock);
    const bool stay = !one_at_a_time_ && (on_pool || accounted_until_ < until);
    if (!stay) break;
    pump(lock);
  }
  leave_token(lock, on_pool);
}

void Stage::leave_token(Lock& lock, bool on_pool) {
  --tokens_;
  lock.unlock();
  if (!on_pool) host_.release_cpu_slot();
  host_.offer_memory();
  lock.lock();
  pump(lock);
}

bool Stage::help() {
  Lock lock(mutex_);
  if (host_.stopped() || running_ >= parallelism_ || waits_for_memory_) return false;
  Group* group = claim_group(lock);
  if (group == nullptr) return false;
  run_group(*group, lock);
  pump(lock);
  return true;
}

// The oldest waiting group, with its memory reserved; null if there is none or no memory.
Group* Stage::claim_group(Lock& lock) {
  if (ready_.empty()) return nullptr;
  Group& group = *ready_.front();
  ready_.pop_front();
  account(host_.now());
  group.state = Group::State::running;
  group.started = true;
  ++running_;
  ++started_;
  if (has_hints_ && group.hint < 0) {
    lock.unlock();
    ask_hint(group);
    lock.lock();
  }
  if (reserve(group)) return &group;
  put_back(group);
  return nullptr;
}

// Outside the lock: a hint may look at a file.
void Stage::ask_hint(Group& group) {
  try {
    if (const auto bytes = body_->bytes_hint(group)) {
      group.hint = *bytes;
      return;
    }
  } catch (...) {
    group.hint = 0;  // whatever is wrong with this element, the call itself will meet and report it
    return;
  }
  has_hints_ = false;
}

std::int64_t Stage::expected_bytes(const Group& group) const {
  if (group.hint >= 0) return group.hint + group.needs;
  const double slots = static_cast<double>(is_source_ ? group.admitted : static_cast<std::int64_t>(group.slots.size()));
  const double each = host_.memory().was_overshot() ? static_cast<double>(bytes_largest_) : bytes_average_;
  return static_cast<std::int64_t>(each * slots) + group.needs;
}

// Who only passes on what is charged already may always go on.
bool Stage::reserve(Group& group) {
  group.reserved = plan_.passes_memory_on ? 0 : expected_bytes(group);
  MemoryBudget& memory = host_.memory();
  if (plan_.passes_memory_on || memory.reserve(group.reserved, false)) return true;
  // The second look closes the gap between a refusal and the flag that asks for a wake-up.
  waits_for_memory_ = true;
  group.forced = may_force(group);
  if (!memory.reserve(group.reserved, group.forced)) return false;
  waits_for_memory_ = false;
  return true;
}

// The rule of progress: without room, a stage may still start its oldest element, if the next stage has none. So each stage holds at most
// one element more than there is room for, and the most downstream one that has any can always go on. Younger ones that were
// quicker to find room do not matter: their results cannot leave before the oldest one's.
bool Stage::may_force(const Group& group) const {
  return &group == ring_.front().get() && !emitting_ && host_.next_is_empty(index_);
}

void Stage::put_back(Group& group) {
  account(host_.now());
  group.state = Group::State::waiting;
  group.started = false;
  group.reserved = 0;
  --running_;
  --started_;
  const auto place = std::lower_bound(ready_.begin(), ready_.end(), group.number,
                                      [](const Group* other, std::int64_t number) { return other->number < number; });
  ready_.insert(place, &group);
}

}  // namespace penstock::exec
