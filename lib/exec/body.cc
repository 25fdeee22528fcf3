#include "lib/exec/body.h"

#include <algorithm>
#include <exception>
#include <new>
#include <span>
#include <utility>

#include <penstock/error.h>

#include "lib/base/mutex.h"
#include "lib/core/byte_count.h"
#include "lib/exec/opened.h"

namespace penstock::exec {

void append_failure(Slots& out, const Stamp& stamp) {
  Slot failure(Element(), stamp);
  failure.fail(detail::current_failure());
  out.push_back(std::move(failure));
}

std::exception_ptr of_restore(const std::exception_ptr& cause) noexcept {
  try {
    return std::make_exception_ptr(
        Error(code_of(cause), "an op cannot go on from what it wrote into the checkpoint: " + message_of(cause)));
  } catch (...) {
    return cause;
  }
}

namespace {

constexpr std::size_t kSpareSlots = 2;  // of a stream op's results
// Results: an op may give what it holds many times, as overlapping windows do.
constexpr std::size_t kFlushedAtOnce = 256;
constexpr std::int64_t kBytesFlushedAtOnce = 1 << 20;

// As far as the users' bytes_of tell: where it throws, the element says so itself.
std::int64_t bytes_of(std::span<const Slot> slots) noexcept {
  std::int64_t sum = 0;
  try {
    for (const Slot& slot : slots) sum += byte_count(slot.value.bytes());
  } catch (...) {
    return kBytesFlushedAtOnce;
  }
  return sum;
}

// Elements that the op has left as they were may refer to values of the source: they get values of their own.
void own_all(std::span<Slot> slots) {
  for (Slot& slot : slots) {
    if (!slot.is_element()) continue;
    try {
      slot.value.own();
    } catch (...) {
      slot.fail(detail::current_failure());
    }
  }
}

std::optional<std::int64_t> hint_of(const ElementwiseOp& op, const Element& value) {
  try {
    if (const auto bytes = op.bytes_hint(value)) return byte_count(*bytes);
    return std::nullopt;
  } catch (...) {
    return 0;  // whatever is wrong with this element, the call itself will meet and report it
  }
}

}  // namespace

// ------------------------------------------------------------------------------------------------ element-wise

void ElementwiseBody::run(Group& group, Context& context) {
  Slots& slots = group.slots;
  std::size_t done = 0;
  while (done < slots.size() && !context.was_stopped()) {
    std::size_t end = done;
    while (end < slots.size() && slots[end].is_element()) ++end;
    if (end > done) {
      end = done + run_stretch(group, std::span<Slot>(&slots[done], end - done), context);
    } else {
      take_mark(slots[end++]);
    }
    done = end;
  }
  group.give_back(done);
}

// A state lasts for one pass, and nothing in the middle of it can be resumed. An op without a state may be called by
// several threads.
void ElementwiseBody::take_mark(Slot& slot) {
  if (!op_->has_state()) return;
  if (slot.kind() == Slot::Kind::save_point && passes_.has_begun()) slot.drop();
  if (slot.kind() == Slot::Kind::pass_end && slot.level() >= depth_) passes_.end_pass();
}

// Returns how many of these elements have been run.
std::size_t ElementwiseBody::run_stretch(Group& group, std::span<Slot> stretch, Context& context) {
  const auto base = static_cast<std::size_t>(stretch.data() - group.slots.data());
  const bool is_lent = borrows_ && std::ranges::any_of(stretch, [](const Slot& slot) { return slot.value.refers(); });
  context.follow(group.is_open() ? &group.call->progress : nullptr, base, is_lent ? stretch : std::span<Slot>());
  try {
    passes_.run(stretch, context);
  } catch (const detail::RetryWhenMemoryIsFree&) {
    throw;
  } catch (...) {
    for (Slot& slot : stretch.subspan(context.answered())) slot.fail(detail::current_failure());
    return stretch.size();
  }
  const std::size_t done = context.was_stopped() ? context.answered() : stretch.size();
  if (is_lent) own_all(stretch.subspan(context.answered(), done - context.answered()));
  return done;
}

void ElementwiseBody::start(Group& group, Context& context, Completion completion) {
  Slot& slot = group.slots.front();
  context.enter(slot);
  op_->start(std::move(slot.value), context, std::move(completion));
}

std::optional<std::int64_t> ElementwiseBody::bytes_hint(const Group& group) const {
  std::int64_t sum = 0;
  for (const Slot& slot : group.slots) {
    if (!slot.is_element()) continue;
    const auto hint = hint_of(*op_, slot.value);
    if (!hint) return std::nullopt;
    sum += *hint;
  }
  return sum;
}

// ------------------------------------------------------------------------------------------------ stream

StreamBody::StreamBody(std::unique_ptr<StreamState> state, std::size_t stage, std::size_t depth, BodyHost& host,
                       const StreamSaves::Traits& traits)
    : state_(std::move(state)), stage_(stage), depth_(depth), host_(host), saves_(*state_, host, traits) {}

// What a resumed state gives at a pass's beginning has been given.
void StreamBody::begin() {
  begin_pass(Stamp());
  if (saves_.is_resumed()) {
    early_.clear();
    failures_.clear();
  }
  saves_.restore();
}

// A failure is found by its number among the results, so it and the results behind it must not leave yet.
inline bool StreamBody::go_on() {
  if (call_ == nullptr) return true;
  return !tell(*call_, failures_.empty() ? out_->size() : call_->progress.answered.load(std::memory_order_relaxed));
}

void StreamBody::run(Group& group, Context&) {
  std::swap(group.results, early_);
  out_ = &group.results;
  call_ = group.is_open() ? group.call.get() : nullptr;
  input_ = group.place.first_ordinal;
  std::size_t ran = 0;
  bool is_flush = false;
  while (ran < group.slots.size() && (ran == 0 || go_on())) {
    const Slot& next = group.slots[ran];
    is_flush = next.kind() == Slot::Kind::pass_end && flush(next, group);
    if (is_flush) break;
    take(std::move(group.slots[ran++]));
    ++input_;
  }
  if (!group.slots.empty()) {
    const Stamp& last = group.slots[std::max<std::size_t>(ran, 1) - 1].stamp;  // that the state has seen
    held_.ask(*state_, [&] { add_failure(last); });
  }
  group.give_back(ran, is_flush);
  if (call_ != nullptr) call_->close();
  call_ = nullptr;
  out_ = &early_;
  reported_.clear();
  std::swap(failures_, reported_);
  group.slots.clear();
  std::swap(group.slots, group.results);
}

// Before the mark that ends the op's input, asks for some of what the op holds. True: there is more, so the mark waits.
bool StreamBody::flush(const Slot& mark, Group& group) {
  if (mark.level() < depth_ || static_cast<std::int64_t>(mark.stamp.sequence) <= closed_until_) return false;
  const std::atomic_ref is_unwanted(group.is_unwanted);
  std::int64_t bytes = 0;
  bool more = true;
  while (more && out_->size() < kFlushedAtOnce && bytes < kBytesFlushedAtOnce &&
         !is_unwanted.load(std::memory_order_relaxed)) {
    const std::size_t before = out_->size();
    more = false;  // also where it throws
    guarded(of_no_element(mark.stamp), [&] { more = state_->flush(*this); });
    bytes += bytes_of(std::span(*out_).subspan(before));
  }
  return more && !is_unwanted.load(std::memory_order_relaxed);
}

// The list always keeps room for a failure and a mark: so where it finds no memory, that failure can still be added.
void StreamBody::add(Slot&& slot) {
  const std::size_t spare = slot.kind() == Slot::Kind::failed     ? 1
                            : slot.kind() == Slot::Kind::pass_end ? 0
                                                                  : kSpareSlots;
  if (out_->size() + spare >= out_->capacity()) grow();
  out_->push_back(std::move(slot));
}

void StreamBody::grow() {
  const std::size_t slots = std::max<std::size_t>(2 * out_->size(), 16);
  if (call_ == nullptr) return out_->reserve(slots);
  MutexLock lock(call_->mutex);  // the list moves
  out_->reserve(slots);
}

void StreamBody::take(Slot&& slot) {
  if (static_cast<std::int64_t>(slot.stamp.sequence) <= closed_until_) return;
  if (slot.kind() == Slot::Kind::pass_end) return take_mark(std::move(slot));
  if (wants_nothing_) return;
  if (slot.is_item()) return take_item(std::move(slot));
  saves_.note(slot.take<SavePointRef>(), input_);
  give_save_point(slot.stamp, input_);
}

void StreamBody::take_item(Slot&& slot) {
  sequence_ = slot.stamp.sequence;
  if (saves_.takes_up()) {
    saves_.keep(std::move(slot));
    return saves_.restore();
  }
  const Stamp stamp = slot.stamp;
  saves_.note_input(slot);
  guarded(stamp,
          [&] { slot.is_element() ? state_->element(std::move(slot), *this) : state_->error(std::move(slot), *this); });
  if (wants_nothing_) return close_pass();
  if (saves_.is_due_late()) give_save_point(stamp, input_ + 1);
}

// Before the input `next`. Where there is no memory for it, this one is left out.
void StreamBody::give_save_point(const Stamp& pass, std::int64_t next) try {
  if (auto point = saves_.point(next)) add(save_point_slot(std::move(point), pass));
} catch (const std::bad_alloc&) {
}

// Ends the pass at once, without waiting for the mark that the source will send: that may take the source, or a stage
// between, long. No mark: a stage further down was quicker, and nobody waits for one.
void StreamBody::close_pass() {
  auto mark = host_.close_pass(stage_, {depth_, sequence_});
  if (!mark) return;
  closed_until_ = static_cast<std::int64_t>(mark->stamp.sequence);
  take_mark(std::move(*mark));
}

template <class Call> void StreamBody::guarded(const Stamp& at, Call&& call) {
  const Stamp stamp = at;  // of a slot that the call may move from
  try {
    call();
  } catch (...) {
    add_failure(stamp);
  }
}

// Adds what the user's code has just thrown. If there is no memory for it, it is only counted: an earlier one says so.
void StreamBody::add_failure(const Stamp& stamp) {
  Slot failure(Element(), stamp);
  failure.fail(detail::current_failure());
  try {
    failures_.push_back({out_->size(), stamp.ordinal < 0 ? -1 : input_});  // a beginning or an end is about no element
    add(std::move(failure));
  } catch (const std::bad_alloc&) {
    std::erase_if(failures_, [this](const Failure& noted) { return noted.result == out_->size(); });
    host_.count_dropped(stage_, 1);
  }
}

void StreamBody::begin_pass(const Stamp& stamp) {
  is_between_passes_ = true;
  guarded(of_no_element(stamp), [this] { state_->begin_pass(*this); });
  is_between_passes_ = false;
}

void StreamBody::take_mark(Slot&& mark) {
  const bool ends_input = mark.level() >= depth_;
  const Stamp stamp = mark.stamp;
  if (ends_input) {
    guarded(of_no_element(stamp), [this] { state_->pass_end(*this); });
    wants_nothing_ = false;
    saves_.end_pass(mark);
  }
  sequence_ = stamp.sequence + 1;
  add(std::move(mark));
  if (!ends_input) return;
  Stamp next = stamp;
  ++next.sequence;
  begin_pass(next);
}

void StreamBody::forward_late(Slot&& slot, std::int64_t number) {
  if (slot.kind() == Slot::Kind::failed) failures_.push_back({out_->size(), number});
  add(std::move(slot));
}

// A failure that was not noted came later, since its type was wrong: it is named by the element that it was made of. So
// is a failure in a part: noted ones never leave in parts, and the notes belong to the running thread.
std::int64_t StreamBody::failed_input(const Group& group, std::size_t result) const {
  if (group.kind == Group::Kind::part) return group.slots[result].stamp.ordinal;
  const auto found = std::ranges::find(reported_, group.taken + result, &Failure::result);
  return found == reported_.end() ? group.slots[result].stamp.ordinal : found->input;
}

// If the pass is just beginning (take(0)), tells the source, which looks before it reads.
void StreamBody::end_pass() {
  wants_nothing_ = true;
  if (is_between_passes_) host_.cut_pass(stage_, {depth_, sequence_});
}

}  // namespace penstock::exec
