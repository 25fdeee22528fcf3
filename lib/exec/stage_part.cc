// Stage: groups in parts. What is done leaves before its call returns, what is not begun comes back, a group that has become too large for one
// call is cut, and one whose elements have become very many hands them on some at a time.
#include <algorithm>
#include <iterator>
#include <utility>

#include "lib/exec/seal.h"
#include "lib/exec/stage.h"

namespace penstock::exec {
namespace {

constexpr std::int64_t kLargestPart = 1024;      // results of a group that get their slots at once
constexpr std::int64_t kLongCall = 2'000'000;  // ns: the widest step. Of a call that takes longer, what it has not begun is for others

std::int64_t bytes_of_slots(const Slots& slots) {
  std::int64_t bytes = 0;
  for (const Slot& slot : slots) bytes += slot.bytes();
  return bytes;
}

std::int64_t elements_of(const Slots& slots) {
  return std::count_if(slots.begin(), slots.end(), [](const Slot& slot) { return slot.is_element(); });
}

}  // namespace

// Before the call. What one call makes of one slot cannot be had in parts.
void Stage::open_call(Group& group) {
  const std::size_t slots = is_source_ ? static_cast<std::size_t>(group.admitted) : group.slots.size();
  if (slots < 2 || one_at_a_time_) return;
  if (group.call == nullptr) group.call = std::make_unique<OpenCall>();
  group.call->open(slots, host_.stopped() || std::atomic_ref(group.is_unwanted).load(std::memory_order_relaxed));
  group.was_opened = true;
  open_calls_.fetch_add(1, std::memory_order_relaxed);
}

// By the thread that ran the group: from here on the group is its alone again.
void Stage::close_call(Group& group) {
  if (std::exchange(group.was_opened, false)) {
    group.taken = group.call->close();
    open_calls_.fetch_sub(1, std::memory_order_relaxed);
    group.slots.erase(group.slots.begin(), group.slots.begin() + static_cast<std::ptrdiff_t>(group.taken));
  }
  if (group.rest.empty()) return;
  MutexLock lock(mutex_);
  take_back(group);
}

// What the call gave back becomes the next group.
void Stage::take_back(Group& group) {
  auto rest = new_part(group, group.ran);
  std::swap(rest->slots, group.rest);
  rest->admitted = static_cast<std::int64_t>(rest->slots.size());
  group.admitted -= rest->admitted;
  group.elements -= elements_of(rest->slots);
  pass_mark_on(group, *rest);
  rest->is_flush = std::exchange(group.is_flush, false);
  rest->came_back = !plan_.serial;
  if (group.is_unwanted) cancel_group(*rest);
  insert_behind(group, std::move(rest));
}

// A group for what comes `offset` inputs behind the beginning of this one.
std::unique_ptr<Group> Stage::new_part(const Group& group, std::int64_t offset) {
  auto part = new_group();
  part->number = group.number + offset;
  part->sequence = group.sequence;
  part->first_ordinal = group.first_ordinal + offset;
  if (group.first_turn != SlotLedger::kNoTurn) part->first_turn = group.first_turn + offset;
  return part;
}

// `rest` has the last slots of what was the group's.
void Stage::pass_mark_on(Group& group, Group& rest) {
  rest.input_bytes = bytes_of_slots(rest.slots);
  group.input_bytes -= rest.input_bytes;
  rest.has_mark = std::exchange(group.has_mark, false);
  rest.mark_level = group.mark_level;
  rest.mark_sequence = group.mark_sequence;
}

// Into the ring and among those that wait.
void Stage::insert_behind(const Group& group, std::unique_ptr<Group> rest) {
  put_in_line(*rest);
  const auto place = std::ranges::find_if(ring_, [&](const auto& other) { return other.get() == &group; });
  ring_.insert(place + 1, std::move(rest));
}

// The group's first `count` slots stay, the others become the next group. It is not running.
void Stage::keep_first(Group& group, std::int64_t count) {
  auto rest = new_part(group, count);
  rest->admitted = std::exchange(group.admitted, count) - count;
  const auto first = group.slots.begin() + static_cast<std::ptrdiff_t>(count);
  rest->slots.assign(std::make_move_iterator(first), std::make_move_iterator(group.slots.end()));
  group.slots.resize(static_cast<std::size_t>(count));
  pass_mark_on(group, *rest);
  rest->came_back = group.came_back;
  group.hint = -1;
  insert_behind(group, std::move(rest));
}

void Stage::want_back(Group& group) {
  if (group.state == Group::State::running && group.call) group.call->progress.is_wanted_back.store(true, std::memory_order_relaxed);
}

void Stage::recall() {
  MutexLock lock(mutex_);
  for (auto& group : ring_) want_back(*group);
}

// Called now and then, above all while the consumer waits: calls that take long are to give back what they have not begun, and what they have done
// leaves; so do folded results, for which there may be no thread as long as calls wait. True: something did.
bool Stage::look_after_calls() {
  if (!has_open_calls() && !is_starting_ && !has_folded_.load(std::memory_order_relaxed)) return false;
  MutexLock lock(mutex_);
  if (host_.stopped()) return false;
  const std::int64_t now = machine_.now();
  for (auto& group : ring_) {
    if (now - group->started_ns > kLongCall) want_back(*group);
  }
  ++completing_;  // stop() waits for it
  bool found = false;
  or_give_up([&]() REQUIRES(mutex_) {
    while (Group* part = take_part()) {
      found = true;
      finish_part(*part);
    }
    if (beyond_calls() > 0) {
      found = true;
      run_group(*claim_group());
    }
  });
  if (is_starting_) let_more_begin();
  if (found || is_starting_) pump();
  if (--completing_ == 0) completed_.notify_all();
  return found;
}

// The first results that may leave now though their call goes on, as a group in front of that one; null: there are none.
Group* Stage::take_part() {
  for (std::size_t place = 0; place < ring_.size(); ++place) {
    Group& group = *ring_[place];
    if (group.state == Group::State::running && group.call != nullptr) {
      if (auto part = take_part_of(group)) {
        ring_.insert(ring_.begin() + static_cast<std::ptrdiff_t>(place), std::move(part));
        return ring_[place].get();
      }
    }
    const bool is_overtaken_by_none = plan_.order == Order::kept && group.state != Group::State::done;
    if (is_overtaken_by_none || group.has_mark) return nullptr;  // nothing overtakes a mark
  }
  return nullptr;
}

// Its share of what was reserved, of the inputs' bytes, and of the window goes with it. A stream op's inputs are done with at the end of the call.
std::unique_ptr<Group> Stage::take_part_of(Group& group) {
  OpenCall& call = *group.call;
  MutexLock lock(call.mutex);
  const auto before = static_cast<std::int64_t>(call.taken);
  Slots out;
  call.take(body_->results_of(group), out);
  if (out.empty()) return nullptr;
  const auto count = static_cast<std::int64_t>(out.size());
  auto part = new_part(group, before);
  part->state = Group::State::running;
  part->started_ns = group.started_ns;
  part->source_ordinal = group.source_ordinal;
  part->is_part = true;
  std::swap(part->slots, out);
  const std::int64_t left = std::max(static_cast<std::int64_t>(call.planned) - before, count);
  part->reserved = group.reserved * count / left;
  group.reserved -= part->reserved;
  part->hint = group.hint < 0 ? -1 : group.hint * count / left;
  if (group.hint > 0) group.hint -= part->hint;
  if (plan_.serial) return part;
  part->elements = elements_before_sealing(*part);
  group.elements -= part->elements;
  part->admitted = count;
  group.admitted -= count;
  part->input_bytes = bytes_of_slots(part->slots);
  group.input_bytes -= part->input_bytes;
  return part;
}

void Stage::finish_part(Group& part) {
  std::int64_t inputs = 0;
  Sealed sealed;
  {
    const MutexUnlock unlock(mutex_);
    settle_places(part);
    inputs = elements_before_sealing(part);
    sealed = seal_results(part);
  }
  account(machine_.now());
  counters_.completed += inputs;
  release_results(part, sealed, 0);
}

// Those that were run: a source's are what it made, a stream op's inputs are counted when its call ends.
std::int64_t Stage::elements_before_sealing(const Group& part) const {
  if (is_source_) return static_cast<std::int64_t>(part.slots.size());
  if (plan_.serial) return 0;
  return std::count_if(part.slots.begin(), part.slots.end(), [](const Slot& slot) { return slot.kind() != Slot::Kind::error; });
}

// A part takes a sixty-fourth of the budget at most.
Sealed Stage::seal_results(Group& group) const {
  const std::int64_t affordable = host_.memory().limit() / 64 / static_cast<std::int64_t>(sizeof(Slot));
  const auto most = static_cast<std::size_t>(std::clamp<std::int64_t>(affordable, 1, kLargestPart));
  return seal(group, plan_, *body_, most, [this](std::int64_t i) { return outside().origin(i); });
}

// What the group had slots for has left.
void Stage::wait_to_unfold(Group& group) {
  group.state = Group::State::waiting;
  group.is_unfolding = true;
  group.left = 0;
  group.taken += group.placed;
  group.slots.clear();
  std::swap(group.slots, group.folded);
  folded_.push_back(&group);
  has_folded_.store(true, std::memory_order_relaxed);
}

// The next results of such a group; the body has run.
void Stage::unfold(Group& group) {
  Sealed sealed;
  {
    const MutexUnlock unlock(mutex_);
    sealed = seal_results(group);
  }
  account(machine_.now());
  --running_;
  release_results(group, sealed, 0);
}

// Nobody wants it any more: all but the mark.
void Stage::let_go_of_folded(Group& group) {
  drop_unwanted(group.state == Group::State::waiting ? group.slots : group.folded);
  group.unfolded = 0;
  folded_bytes_ -= std::exchange(group.folded_bytes, 0);
  hollow_bytes_ -= std::exchange(group.hollow_bytes, 0);
}

}  // namespace penstock::exec
