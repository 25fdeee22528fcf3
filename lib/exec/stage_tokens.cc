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
  if (waits_for_slot_) return 0;
  const auto folded = static_cast<std::int64_t>(folded_.size());
  const std::int64_t ready = folded + (waits_for_memory_ ? 0 : startable_groups());
  std::int64_t idle = tokens_ - (running_ - detached_);
  std::int64_t claimed = 0;
  const std::int64_t most = most_calls() + beyond_calls();
  while (tokens_ + detached_ < most && idle < ready && (idle < folded || has_room(idle - folded))) {
    if (!on_pool_ && !host_.acquire_cpu_slot(index_)) {
      waits_for_slot_ = true;
      break;
    }
    cpu_slots_ += on_pool_ ? 0 : 1;
    ++tokens_;
    ++idle;
    ++claimed;
  }
  return claimed;
}

// Calls that may run at once. Before the first result nobody can tell what results hold, unless the op has a hint: then one begins, and others where
// it lasts (let_more_begin). Calls that complete later are bounded otherwise (open_io).
std::int64_t Stage::most_calls() {
  is_starting_ = counters_.completed == 0 && without_hint_ > 0 && begins_with_few_ && parallelism_ > 1;
  return is_starting_ ? std::min(parallelism_, first_calls_) : parallelism_;
}

// Results that are there already need neither memory nor one of the calls: all of those may be waiting for what the consumer gives back. What is
// done of a stream op's comes through its only token.
std::int64_t Stage::beyond_calls() const { return plan_.serial ? 0 : static_cast<std::int64_t>(folded_.size()); }

// Lists of results that nobody has asked for yet: more of them would only take memory. The oldest group may begin all the same: they may be behind it.
bool Stage::has_plenty() const { return folded_bytes_ - hollow_bytes_ > host_.memory().limit() / 4; }

void Stage::Before::add(const Group& group) {
  const bool is_done = group.state == Group::State::done;
  if (begun > 0 || !is_done) begun += group.admitted;
  is_open = is_open || !is_done;
  has_open_pass = has_open_pass || (is_open && group.has_mark);
}

// How many slots of the waiting group may begin now.
std::int64_t Stage::startable(const Group& group) const {
  Before before;
  for (const auto& other : ring_) {
    if (other.get() == &group || !(keeps_near_ || keeps_passes_apart_)) break;
    before.add(*other);
  }
  return startable(group, before);
}

std::int64_t Stage::startable(const Group& group, const Before& before) const {
  if ((group.is_flush || has_plenty()) && ring_.front().get() != &group) return 0;  // what is before it has not left
  if (keeps_passes_apart_ && before.has_open_pass) return 0;
  const auto size = std::max<std::int64_t>(static_cast<std::int64_t>(group.slots.size()), 1);  // nothing is left of some that were cancelled
  return keeps_near_ && before.begun > 0 ? std::clamp<std::int64_t>(window_ - before.begun, 0, size) : size;
}

// How many groups tokens would find. Those who may not begin yet will be looked at again when an older one is done. One walk along the ring, in whose
// order groups wait: with 128 calls, a walk for each of them took a quarter of the CPU time.
std::int64_t Stage::startable_groups() const {
  if (!keeps_near_ && !keeps_passes_apart_ && !has_plenty() && (ready_.empty() || !ready_.front()->is_flush)) return static_cast<std::int64_t>(ready_.size());
  Before before;
  std::size_t count = 0;
  for (auto group = ring_.begin(); group != ring_.end() && count < ready_.size(); ++group) {
    if (group->get() == ready_[count]) {
      if (startable(**group, before) == 0) break;
      ++count;
    }
    before.add(**group);
  }
  return static_cast<std::int64_t>(count);
}

bool Stage::may_run(bool on_pool) const {
  return !host_.stopped() && on_pool == on_pool_ && tokens_ + detached_ <= parallelism_ + beyond_calls() && (!waits_for_memory_ || !folded_.empty());
}

// Runs group after group while there is work. A compute thread gives its CPU slot back after some 50 us if a stage of higher rank or another
// run waits for one.
void Stage::run_token(bool on_pool) noexcept {
  const std::int64_t until = machine_.now() + (one_at_a_time_ ? 0 : 50'000);
  bool memory_is_short = false;
  {
    MutexLock lock(mutex_);
    or_give_up([&]() REQUIRES(mutex_) {
      while (may_run(on_pool)) {
        Group* group = claim_group();
        if (group == nullptr) break;
        if (std::exchange(held_back_, false)) pump();
        run_group(*group);
        if (one_at_a_time_) break;
        pump();
        if (!on_pool && accounted_until_ >= until && host_.cpu_slot_is_wanted(index_)) break;
      }
    });
    memory_is_short = leave_token(on_pool);
  }
  if (memory_is_short) outside().wake_consumer();
}

// Whether the stage waits for memory.
bool Stage::leave_token(bool on_pool) {
  --tokens_;
  const bool has_slot = !on_pool && cpu_slots_ > 0;
  cpu_slots_ -= has_slot ? 1 : 0;
  {
    const MutexUnlock unlock(mutex_);
    if (has_slot) outside().release_cpu_slot();
    if (!on_pool && !has_slot) outside().end_without_cpu_slot();
    outside().offer_memory();
  }
  pump();
  return waits_for_memory_;
}

bool Stage::help() {
  MutexLock lock(mutex_);
  if (host_.stopped() || (folded_.empty() && (running_ >= parallelism_ || waits_for_memory_))) return false;
  ++tokens_;  // beyond parallelism_, maybe: a token that has not begun yet finds that and leaves
  Group* group = nullptr;
  or_give_up([&]() REQUIRES(mutex_) {
    group = claim_group();
    if (group != nullptr) run_group(*group);
  });
  --tokens_;
  pump();
  return group != nullptr;
}

bool Stage::waits_for_cpu_slot() const {
  MutexLock lock(mutex_);
  return waits_for_slot_;
}

bool Stage::can_be_relieved() const {
  MutexLock lock(mutex_);
  const bool may_call = running_ < parallelism_ && !waits_for_memory_ && !ready_.empty();
  return waits_for_slot_ && (may_call || !folded_.empty()) && !host_.stopped();
}

// The oldest waiting group, with its memory reserved; null if there is none or no memory. First those whose results are there already.
Group* Stage::claim_group() {
  if (!folded_.empty()) {
    Group& group = *folded_.front();
    folded_.pop_front();
    has_folded_.store(!folded_.empty(), std::memory_order_relaxed);
    begin(group);
    return &group;
  }
  if (waits_for_memory_ || ready_.empty() || running_ >= most_calls()) return nullptr;
  Group& group = *ready_.front();
  std::int64_t count = startable(group);
  if (count == 0) return nullptr;
  if (group.came_back) count = std::min(count, group_size());  // else one thread after the other would run an element, and give back the rest
  ready_.pop_front();
  if (count < static_cast<std::int64_t>(group.slots.size())) {
    keep_first(group, count);
    held_back_ = held_back_ || group.came_back;
  }
  begin(group);
  if (more_began_ns_ == 0) more_began_ns_ = accounted_until_;
  ask_hint(group);
  if (!reserve(group) && !force(group)) {
    put_back(group);
    return nullptr;
  }
  withdraw_claim();
  return &group;
}

void Stage::begin(Group& group) {
  account(machine_.now());
  group.state = Group::State::running;
  group.started_ns = accounted_until_;
  group.thread = machine_.thread_number();
  group.source_ordinal = group.slots.empty() ? -1 : group.slots.front().stamp.ordinal;
  ++running_;
  busy_.store(true, std::memory_order_relaxed);
}

// A hint may look at a file. An op that never gives one is not asked for ever.
void Stage::ask_hint(Group& group) {
  if (plan_.serial || group.hint >= 0 || without_hint_ >= kAskedInVain) return;
  std::optional<std::int64_t> bytes;
  {
    const MutexUnlock unlock(mutex_);
    const BodyScope scope(&outside());
    bytes = body_->bytes_hint(group);
  }
  group.hint = bytes.value_or(-1);
  without_hint_ = bytes ? 0 : without_hint_ + 1;
  held_back_ = held_back_ || (bytes && is_starting_);  // others waited for what this one would tell
}

// Of one slot's results, as far as experience tells; careful once the limit has been passed, where it is this stage's to be.
double Stage::expected_bytes_each() const {
  const bool careful = host_.memory().was_overshot() && !plan_.passes_memory_on;
  return careful ? std::max(bytes_largest_, bytes_average_) : bytes_average_;
}

// Results of one input, as far as experience tells: each will need a slot.
double Stage::results_each() const { return std::max(1.0, static_cast<double>(made_) / static_cast<double>(std::max<std::int64_t>(counters_.completed, 1))); }

std::int64_t Stage::expected_bytes(const Group& group) const {
  const std::int64_t slots = is_source_ ? group.admitted : static_cast<std::int64_t>(group.slots.size());
  if (group.hint >= 0) return group.hint + static_cast<std::int64_t>(results_each() * static_cast<double>(slots) * sizeof(Slot)) + group.needs;
  return static_cast<std::int64_t>(expected_bytes_each() * static_cast<double>(slots)) + group.needs;
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

// The first result tells what to expect of the calls that began before it. They reserve that now, or others would begin on what theirs will need.
void Stage::reserve_for_first_calls() {
  for (const auto& group : ring_) {
    if (group->state != Group::State::running || group->is_part || group->is_unfolding || group->hint >= 0) continue;
    group->reserved_since = static_cast<std::int64_t>(expected_bytes_each() * static_cast<double>(group->admitted));
    host_.memory().charge(group->reserved_since);
  }
}

// The claim has been met: who was refused on its account may look again.
void Stage::withdraw_claim() {
  if (claim_.load(std::memory_order_relaxed) == 0) return;
  claim_ = 0;
  host_.memory().note_need(0);
  const MutexUnlock unlock(mutex_);
  outside().offer_memory();
}

// After a refusal: starts the group's first element all the same, or some that are small, where the rule of progress lets it.
bool Stage::force(Group& group) {
  if (!may_force(group)) return false;
  const std::int64_t most = forced_size();
  if (is_source_ && group.admitted > most) in_window_ -= std::exchange(group.admitted, most) - most;  // it makes no more than that
  if (static_cast<std::int64_t>(group.slots.size()) > most) keep_first(group, most);
  ask_hint(group);
  group.reserved = expected_bytes(group);
  group.forced = host_.memory().reserve(group.reserved, true);
  waits_for_memory_ = false;
  return true;
}

// The rule of progress: without room, a stage may still start its oldest element, if all is empty up to the next stage that reserves. So each stage holds at most
// one element more than there is room for, or a 256th of the budget if that is more, and the most downstream one that has any can always go on. Younger ones that were
// quicker to find room do not matter: their results cannot leave before the oldest one's.
bool Stage::may_force(const Group& group) const {
  return &group == ring_.front().get() && !emitting_ && host_.next_is_empty(index_);
}

void Stage::put_back(Group& group) {
  account(machine_.now());
  group.state = Group::State::waiting;
  group.reserved = 0;
  host_.memory().release(std::exchange(group.reserved_since, 0));
  --running_;
  put_in_line(group);
}

// Among those that wait, by its number.
void Stage::put_in_line(Group& group) {
  const auto place = std::lower_bound(ready_.begin(), ready_.end(), group.number,
                                      [](const Group* other, std::int64_t number) { return other->number < number; });
  ready_.insert(place, &group);
}

}  // namespace penstock::exec
