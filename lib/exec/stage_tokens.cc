// Stage: tokens, permissions to run the oldest waiting group.
#include <algorithm>
#include <iterator>
#include <utility>

#include "lib/exec/stage.h"

namespace penstock::exec {
namespace {
constexpr std::int64_t kAskedInVain = 16;
}

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

// Runs group after group while there is work. A compute thread gives its CPU slot back after some 50 us if a stage of higher rank or another
// run waits for one.
void Stage::run_token(bool on_pool) noexcept {
  const std::int64_t until = host_.now() + (one_at_a_time_ ? 0 : 50'000);
  Lock lock(mutex_);
  while (may_run(on_pool)) {
    Group* group = claim_group(lock);
    if (group == nullptr) break;
    run_group(*group, lock);
    if (one_at_a_time_) break;
    pump(lock);
    if (!on_pool && accounted_until_ >= until && host_.cpu_slot_is_wanted(index_)) break;
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
  if (!waits_for_memory_) return;
  lock.unlock();
  host_.wake_consumer();
}

bool Stage::help() {
  Lock lock(mutex_);
  if (host_.stopped() || running_ >= parallelism_ || waits_for_memory_) return false;
  ++tokens_;  // beyond parallelism_, maybe: a token that has not begun yet finds that and leaves
  Group* group = claim_group(lock);
  if (group != nullptr) run_group(*group, lock);
  --tokens_;
  pump(lock);
  return group != nullptr;
}

bool Stage::waits_for_cpu_slot() const {
  Lock lock(mutex_);
  return waits_for_slot_;
}

bool Stage::can_be_relieved() const {
  Lock lock(mutex_);
  return waits_for_slot_ && running_ < parallelism_ && !waits_for_memory_ && !ready_.empty() && !host_.stopped();
}

// The oldest waiting group, with its memory reserved; null if there is none or no memory.
Group* Stage::claim_group(Lock& lock) {
  if (ready_.empty()) return nullptr;
  Group& group = *ready_.front();
  ready_.pop_front();
  account(host_.now());
  group.state = Group::State::running;
  group.started_ns = accounted_until_;
  group.source_ordinal = group.slots.empty() ? -1 : group.slots.front().stamp.ordinal;
  ++running_;
  busy_.store(true, std::memory_order_relaxed);
  ask_hint(group, lock);
  if (!reserve(group) && !force(group, lock)) {
    put_back(group);
    return nullptr;
  }
  withdraw_claim(lock);
  return &group;
}

// Outside the lock: a hint may look at a file. An op that never gives one is not asked for ever.
void Stage::ask_hint(Group& group, Lock& lock) {
  if (plan_.serial || group.hint >= 0 || without_hint_ >= kAskedInVain) return;
  lock.unlock();
  const auto bytes = [&] {
    const BodyScope scope(&host_);
    return body_->bytes_hint(group);
  }();
  lock.lock();
  group.hint = bytes.value_or(-1);
  without_hint_ = bytes ? 0 : without_hint_ + 1;
}

// Of one slot's results, as far as experience tells; careful once the limit has been passed, where it is this stage's to be.
double Stage::expected_bytes_each() const {
  const bool careful = host_.memory().was_overshot() && !plan_.passes_memory_on;
  return careful ? static_cast<double>(bytes_largest_) : bytes_average_;
}

std::int64_t Stage::expected_bytes(const Group& group) const {
  if (group.hint >= 0) return group.hint + group.needs;
  const double slots = static_cast<double>(is_source_ ? group.admitted : static_cast<std::int64_t>(group.slots.size()));
  return static_cast<std::int64_t>(expected_bytes_each() * slots) + group.needs;
}

// Who only passes on what is charged already may always go on.
bool Stage::reserve(Group& group) {
  MemoryBudget& memory = host_.memory();
  group.reserved = plan_.passes_memory_on ? group.needs : expected_bytes(group);
  if (plan_.passes_memory_on) return group.needs == 0 || memory.reserve(group.needs, true);
  if (take_memory(group)) return true;
  // The second look closes the gap between a refusal and the flag that asks for a wake-up.
  waits_for_memory_ = true;
  if (2 * (running_ - 1) < parallelism_) claim_ = group.reserved;  // running_ counts this one
  if (!take_memory(group)) return false;
  waits_for_memory_ = false;
  return true;
}

bool Stage::take_memory(Group& group) { return host_.memory().reserve(group.reserved, false, host_.memory_claimed_behind(index_)); }

// The claim has been met: who was refused on its account may look again.
void Stage::withdraw_claim(Lock& lock) {
  if (claim_.load(std::memory_order_relaxed) == 0) return;
  claim_ = 0;
  host_.memory().note_need(0);
  lock.unlock();
  host_.offer_memory();
  lock.lock();
}

// After a refusal: starts the group's first element all the same, where the rule of progress lets it.
bool Stage::force(Group& group, Lock& lock) {
  if (!may_force(group)) return false;
  if (is_source_) in_window_ -= std::exchange(group.admitted, 1) - 1;  // it makes no more than that
  if (group.slots.size() > 1) keep_first(group);
  ask_hint(group, lock);
  group.reserved = expected_bytes(group);
  group.forced = host_.memory().reserve(group.reserved, true);
  waits_for_memory_ = false;
  return true;
}

// The oldest group's other slots become the next group.
void Stage::keep_first(Group& group) {
  auto rest = new_group();
  rest->number = group.number + 1;
  rest->first_ordinal = group.first_ordinal + 1;
  if (group.first_turn != SlotLedger::kNoTurn) rest->first_turn = group.first_turn + 1;
  rest->admitted = std::exchange(group.admitted, 1) - 1;
  rest->slots.assign(std::make_move_iterator(group.slots.begin() + 1), std::make_move_iterator(group.slots.end()));
  group.slots.resize(1);
  rest->input_bytes = group.input_bytes - group.slots.front().bytes();
  group.input_bytes -= rest->input_bytes;
  rest->has_mark = std::exchange(group.has_mark, false);
  rest->mark_level = group.mark_level;
  rest->mark_sequence = group.mark_sequence;
  group.hint = -1;
  ready_.push_front(rest.get());
  ring_.insert(ring_.begin() + 1, std::move(rest));
}

// The rule of progress: without room, a stage may still start its oldest element, if all is empty up to the next stage that reserves. So each stage holds at most
// one element more than there is room for, and the most downstream one that has any can always go on. Younger ones that were
// quicker to find room do not matter: their results cannot leave before the oldest one's.
bool Stage::may_force(const Group& group) const {
  return &group == ring_.front().get() && !emitting_ && host_.next_is_empty(index_);
}

void Stage::put_back(Group& group) {
  account(host_.now());
  group.state = Group::State::waiting;
  group.reserved = 0;
  --running_;
  const auto place = std::lower_bound(ready_.begin(), ready_.end(), group.number,
                                      [](const Group* other, std::int64_t number) { return other->number < number; });
  ready_.insert(place, &group);
}

}  // namespace penstock::exec
