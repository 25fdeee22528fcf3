// Stage: how slots come in, and how the upstream stage is paid for them.
#include <algorithm>
#include <iterator>
#include <utility>

#include "lib/exec/stage.h"

namespace penstock::exec {
namespace {

constexpr std::int64_t kLargestGroup = 512;
constexpr double kWidest = 100;               // times the grain: 2 ms by default
constexpr double kWorthAThread = 2'000;       // ns: to hand an element to another thread costs 1 to 3 us

// How many slots come before `most` are reached or a mark is passed.
std::int64_t stretch_to_mark(const Slots& slots, std::size_t from, std::int64_t most) {
  const auto end = std::min(slots.size(), from + static_cast<std::size_t>(most));
  for (std::size_t i = from; i < end; ++i) {
    if (slots[i].kind() == Slot::Kind::pass_end) return static_cast<std::int64_t>(i + 1 - from);
  }
  return static_cast<std::int64_t>(end - from);
}

}  // namespace

void Stage::receive(Slots&& slots) {
  MutexLock lock(mutex_);
  const auto count = static_cast<std::int64_t>(slots.size());
  or_give_up([&]() REQUIRES(mutex_) { waiting_.push_back(std::move(slots)); });
  if (host_.stopped()) return;
  waiting_count_ += count;
  counters_.elements_in += count_elements(waiting_.back());
  pump();
}

// Slots that make up one step of work.
std::int64_t Stage::group_size() const {
  const MemoryBudget& memory = host_.memory();
  // One by one where calls wait: one would hold up what shares its group, though another thread could take it.
  if (one_at_a_time_ || waits() || slot_ns_average_ <= 0) return 1;
  const double base = static_cast<double>(grain_ns_) / slot_ns_average_;
  // Nothing is won by sharing with threads that have other work.
  const std::int64_t calls = host_.has_free_cpu_slot() ? parallelism_ : 1;
  const double share = static_cast<double>((waiting_count_ + calls - 1) / calls);
  const double most = static_cast<double>(kLargestGroup);
  double size = std::max(std::clamp(base, 1.0, most), std::min({share, kWidest * base, most}));
  const double budget = static_cast<double>(memory.limit()) / 16;
  if (size * expected_bytes_each() > budget) size = std::max(1.0, budget / expected_bytes_each());
  if (memory.used() >= memory.limit()) size = std::min(size, static_cast<double>(forced_size()));
  // Within the window all calls have work where each takes little. Cheap elements are run by one thread after the other instead.
  if (keeps_near_ && slot_ns_average_ > kWorthAThread) size = std::min(size, static_cast<double>(std::max<std::int64_t>(window_ / parallelism_, 1)));
  return static_cast<std::int64_t>(size);
}

// Slots that may be under way to this stage or wait in it: the knob, or two wide steps of cheap calls on small elements.
std::int64_t Stage::capacity() const {
  const bool is_fixed = !plan_.buffer.is_automatic();  // by the user, who may have no more elements than that
  return is_fixed || waits() ? buffer_ : std::max(buffer_, small_elements(2 * kWidest * static_cast<double>(grain_ns_)));
}

// Slots whose results have not left. Cheap calls go through many at a time, but no more than the user lets wait behind them. A stream op's are not its
// results: it may keep nothing of them.
std::int64_t Stage::most_in_window() const {
  const Tunable& behind = plan_.buffer_behind;
  if (behind.is_automatic() || plan_.serial) return std::max(window_, capacity());
  const std::int64_t passing = parallelism_ > 1 ? window_ : 1;  // one call passes no other
  return std::max(passing, std::min(capacity(), behind.low()));
}

// How many elements all calls together make within that time, as far as memory does not count; 0 where it does.
std::int64_t Stage::small_elements(double nanoseconds) const {
  const double bytes = std::max(bytes_average_, input_average_);
  if (one_at_a_time_ || slot_ns_average_ <= 0 || bytes >= kSmallElement) return 0;
  const double calls = static_cast<double>(parallelism_);
  const double made = std::min(nanoseconds / slot_ns_average_, static_cast<double>(kLargestGroup)) * calls;
  return static_cast<std::int64_t>(std::min(made, affordable_bytes() / std::max(bytes, 1.0)));
}

// What small elements that are kept ready may hold, at each place where they are.
double Stage::affordable_bytes() const { return static_cast<double>(host_.memory().limit()) / 64; }

// Elements that begin though the budget is used up: one, or as many small ones as hold next to nothing, for to begin each by itself costs
// microseconds.
std::int64_t Stage::forced_size() const {
  const double each = expected_bytes_each();
  if (each <= 0) return 1;
  return std::clamp(static_cast<std::int64_t>(static_cast<double>(host_.memory().limit()) / 256 / each), std::int64_t{1}, kLargestGroup);
}

std::int64_t Stage::top_up() {
  if (upstream_ == nullptr) return 0;
  const std::int64_t most = capacity();
  const std::int64_t more = std::max<std::int64_t>(most - promised_, 0);
  if (2 * more < most) return 0;  // in lumps: the stage before may have to wake a thread for them
  promised_ += more;
  return more;
}

std::unique_ptr<Group> Stage::new_group() {
  std::unique_ptr<Group> group;
  if (spare_.empty()) {
    group = std::make_unique<Group>();
  } else {
    group = std::move(spare_.back());
    spare_.pop_back();
  }
  group->number = next_number_;
  next_number_ += kLargestGroup;  // room for the numbers of its parts: see keep_first()
  group->first_ordinal = inputs_this_pass_;
  return group;
}

// Makes one group of what waits. False: nothing waits, or the window is full.
bool Stage::admit_group() {
  if (is_source_) return produce();
  if (waits_for_memory_ && !ready_.empty()) return false;  // nothing is gained by piling up inputs
  const std::int64_t room = most_in_window() - in_window_;
  if (waiting_count_ == 0 || room <= 0) return false;
  auto group = new_group();
  const std::int64_t most = std::min(group_size(), room);
  while (waiting_count_ > 0 && group->admitted < most && !group->has_mark) admit_from_front(*group, most);
  place(std::move(group));
  return true;
}

// Moves slots of the oldest packet into the group; a packet that fits whole is not copied.
void Stage::admit_from_front(Group& group, std::int64_t most) {
  Slots& front = waiting_.front();
  const std::int64_t count = stretch_to_mark(front, waiting_taken_, most - group.admitted);
  const bool whole = waiting_taken_ == 0 && group.slots.empty() && count == static_cast<std::int64_t>(front.size());
  if (whole) {
    std::swap(group.slots, front);
  } else {
    const auto first = front.begin() + static_cast<std::ptrdiff_t>(waiting_taken_);
    std::move(first, first + count, std::back_inserter(group.slots));
  }
  waiting_taken_ += static_cast<std::size_t>(count);
  if (whole || waiting_taken_ == front.size()) {
    waiting_.pop_front();
    waiting_taken_ = 0;
  }
  waiting_count_ -= count;
  promised_ -= count;
  group.admitted += count;
  const Slot& last = group.slots.back();
  group.has_mark = last.kind() == Slot::Kind::pass_end;
  if (skipping_) drop_unwanted(group.slots);
  if (group.has_mark) note_mark(group.slots.back());
}

// Takes elements and errors of a cancelled pass out. Marks stay: stages further down keep their books by them.
void Stage::drop_unwanted(Slots& slots) {
  const auto unwanted = std::stable_partition(slots.begin(), slots.end(), [](const Slot& slot) { return slot.kind() == Slot::Kind::pass_end; });
  std::int64_t bytes = 0;
  for (auto slot = unwanted; slot != slots.end(); ++slot) bytes += slot->bytes();
  std::move(unwanted, slots.end(), std::back_inserter(unwanted_));
  slots.erase(unwanted, slots.end());
  host_.memory().release(bytes);
}

void Stage::note_mark(const Slot& mark) {
  std::fill_n(closed_.begin(), mark.level() + 1u, static_cast<std::int64_t>(mark.stamp.sequence));
  if (skipping_ && mark.level() >= skip_depth_) skipping_ = false;
}

void Stage::place(std::unique_ptr<Group> group) {
  if (group->slots.empty()) {  // all of it was unwanted
    group->clear();
    spare_.push_back(std::move(group));
    return;
  }
  bool has_work = plan_.serial || (plan_.has_state && group->has_mark);
  group->sequence = group->slots.front().stamp.sequence;
  for (const Slot& slot : group->slots) {
    group->input_bytes += slot.bytes();
    has_work = has_work || slot.is_element();
    inputs_this_pass_ += slot.kind() != Slot::Kind::pass_end;
  }
  if (group->has_mark) {
    const Slot& mark = group->slots.back();
    group->mark_level = mark.level();
    group->mark_sequence = mark.stamp.sequence;
    if (mark.level() >= plan_.depth) inputs_this_pass_ = 0;
  }
  if (ledger_) group->first_turn = ledger_->admit(group->slots);
  in_window_ += group->admitted;
  if (has_work) {
    ready_.push_back(group.get());
  } else {
    group->state = Group::State::done;
    unsent_ += static_cast<std::int64_t>(group->slots.size());
  }
  ring_.push_back(std::move(group));
}

// A source's next group: as many elements as the next stage has room for.
bool Stage::produce() {
  const std::int64_t room = credits_ - unsent_;
  if (running_ > 0 || !ready_.empty() || room <= 0 || !body_->can_produce()) return false;
  auto group = new_group();
  group->admitted = std::min(group_size(), room);
  in_window_ += group->admitted;
  ready_.push_back(group.get());
  ring_.push_back(std::move(group));
  return true;
}

// Only its mark is wanted. One that runs stops as soon as it can.
void Stage::cancel_group(Group& group) {
  std::atomic_ref(group.is_unwanted).store(true);
  if (group.state == Group::State::running) return want_back(group);
  if (group.is_unfolding || !group.folded.empty()) return let_go_of_folded(group);
  if (group.state == Group::State::waiting) drop_inputs(group);
}

// Of a group that waits.
void Stage::drop_inputs(Group& group) {
  const std::size_t before = group.slots.size();
  drop_unwanted(group.slots);
  give_turns_back(group, before);
  group.input_bytes = 0;
}

// Of slots that were taken out of the group behind its first ones; its mark stayed.
void Stage::give_turns_back(const Group& group, std::size_t slots_before) {
  if (group.first_turn == SlotLedger::kNoTurn) return;
  const auto marks = static_cast<std::int64_t>(group.has_mark);
  const std::int64_t end = group.first_turn + static_cast<std::int64_t>(slots_before) - marks;
  const std::int64_t begin = group.first_turn + static_cast<std::int64_t>(group.slots.size()) - marks;
  for (std::int64_t turn = begin; turn < end; ++turn) ledger_->complete(turn, 0);
}

// Groups up to the mark of the unwanted pass; if that is still to come, everything until it does; if it has left, nothing.
void Stage::cancel_pass(std::size_t depth, std::uint64_t sequence) {
  {
    MutexLock lock(mutex_);
    if (departed_[depth] >= static_cast<std::int64_t>(sequence)) return;
    cancel_groups(depth, sequence);
    pump();
  }
  outside().offer_memory();
}

void Stage::cancel_groups(std::size_t depth, std::uint64_t sequence) {
  const bool is_open = closed_[depth] < static_cast<std::int64_t>(sequence);
  auto last = std::find_if(ring_.begin(), ring_.end(), [&](const auto& group) {
    return group->has_mark && group->mark_level >= depth && group->mark_sequence >= sequence;
  });
  if (last != ring_.end()) ++last;
  for (auto group = ring_.begin(); group != last; ++group) {
    if (is_source_) break;
    if ((*group)->sequence >= sequence) cancel_group(**group);
  }
  if (is_open) {
    skip_depth_ = skipping_ ? std::max(skip_depth_, depth) : depth;
    skipping_ = true;
  }
}

}  // namespace penstock::exec
