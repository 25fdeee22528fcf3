#include "lib/exec/body.h"

#include <algorithm>
#include <span>
#include <utility>

#include "lib/core/byte_count.h"

namespace penstock::exec {
namespace {

constexpr int kPassedAtOnce = 4096;  // elements left out by one call of a source: then it is looked whether they are still wanted

// What the user's code has just thrown stands where its results would.
void append_failure(Slots& out, const Stamp& stamp) {
  out.emplace_back(Element(), stamp);
  out.back().fail(std::current_exception());
}

// What an op has left as it was goes on as a value of its own.
void own_all(std::span<Slot> slots) {
  for (Slot& slot : slots) {
    if (!slot.is_element()) continue;
    try {
      slot.value.own();
    } catch (...) {
      slot.fail(std::current_exception());
    }
  }
}

// What begin_pass() and pass_end() are called for is no element of the source.
Stamp of_no_element(Stamp pass) {
  pass.ordinal = -1;
  return pass;
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
  for (std::size_t i = 0; i < slots.size();) {
    if (!slots[i].is_element()) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < slots.size() && slots[end].is_element()) ++end;
    const std::span<Slot> stretch(&slots[i], end - i);
    try {
      op_->run(stretch, context);
    } catch (const detail::RetryWhenMemoryIsFree&) {
      throw;
    } catch (...) {
      for (Slot& slot : stretch) slot.fail(std::current_exception());
    }
    if (borrows_) own_all(stretch);
    i = end;
  }
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

StreamBody::StreamBody(std::unique_ptr<StreamState> state, std::size_t stage, std::size_t depth, BodyHost& host)
    : state_(std::move(state)), stage_(stage), depth_(depth), host_(host) {}

void StreamBody::run(Group& group, Context&) {
  failures_.clear();
  std::int64_t input = group.first_ordinal;
  note_failures(0, input);  // of the pass's beginning
  for (Slot& slot : group.slots) {
    const std::size_t from = out_.size();
    take(std::move(slot));
    note_failures(from, input++);
  }
  group.slots.clear();
  std::swap(group.slots, out_);
  held_bytes_ = state_->held_bytes();
}

void StreamBody::take(Slot&& slot) {
  if (slot.kind() == Slot::Kind::pass_end) return take_mark(std::move(slot));
  if (wants_nothing_) return;
  sequence_ = slot.stamp.sequence;
  guarded(slot.stamp, [&] { slot.is_element() ? state_->element(std::move(slot), *this) : state_->error(std::move(slot), *this); });
}

template <class Call>
void StreamBody::guarded(const Stamp& at, Call&& call) {
  const Stamp stamp = at;  // of a slot that the call may move from
  try {
    call();
  } catch (...) {
    append_failure(out_, stamp);
  }
}

void StreamBody::begin_pass(const Stamp& stamp) {
  guarded(of_no_element(stamp), [this] { state_->begin_pass(*this); });
}

void StreamBody::take_mark(Slot&& mark) {
  const bool ends_input = mark.level() >= depth_;
  const Stamp stamp = mark.stamp;
  if (ends_input) {
    guarded(of_no_element(stamp), [this] { state_->pass_end(*this); });
    wants_nothing_ = false;
  }
  sequence_ = stamp.sequence + 1;
  out_.push_back(std::move(mark));
  if (!ends_input) return;
  Stamp next = stamp;
  next.sequence = sequence_;
  begin_pass(next);
}

// Results of one input are few; of a pass's end they can be a whole buffer.
void StreamBody::note_failures(std::size_t from, std::int64_t input) {
  for (std::size_t i = from; i < out_.size(); ++i) {
    if (out_[i].kind() == Slot::Kind::failed) failures_.push_back({i, input});
  }
}

std::int64_t StreamBody::failed_input(const Group&, std::size_t result) const {
  return std::ranges::find(failures_, result, &Failure::result)->input;
}

void StreamBody::end_pass() {
  wants_nothing_ = true;
  host_.cut_pass(stage_, {depth_, sequence_});
}

// ------------------------------------------------------------------------------------------------ endless repeat

void RepeatBody::run(Group& group, Context&) {
  std::erase_if(group.slots, [this](Slot& slot) { return !keep(slot); });
}

bool RepeatBody::keep(Slot& slot) {
  if (slot.kind() == Slot::Kind::pass_end) return keep_mark(slot);
  gave_something_ = true;
  return !ended_;
}

bool RepeatBody::keep_mark(const Slot& mark) {
  if (mark.level() > depth_) {
    ended_ = false;
    gave_something_ = false;
    return true;
  }
  if (ended_ || mark.level() < depth_) return !ended_;
  if (!gave_something_) {
    ended_ = true;
    host_.cut_pass(stage_, {depth_ + 1, mark.stamp.sequence + 1});
  }
  gave_something_ = false;
  return true;
}

// ------------------------------------------------------------------------------------------------ source

SourceBody::SourceBody(SourceParts parts, PassControl& passes) : parts_(std::move(parts)), passes_(passes) {
  if (!parts_.order) reader_ = parts_.op->open();
}

void SourceBody::resume_at(const Stamp& last) {
  resume_ = last;
  passes_.wind_to(last.pass);
}

// False: it failed, and the pass has nothing but that.
bool SourceBody::begin_reading(const Stamp& pass, Slots& out) {
  at_ = pass;
  at_.ordinal = 0;
  try {
    if (parts_.order) {
      parts_.order->begin_pass(pass.epoch, pass.pass);
    } else {
      reader_->begin_pass(pass.epoch, pass.pass);
    }
    return true;
  } catch (...) {
    append_failure(out, at_);
    return false;
  }
}

// The next element; at_ is then its stamp.
std::optional<Element> SourceBody::next(Context& context) {
  if (parts_.order) {
    const auto index = parts_.order->next();
    if (!index) return std::nullopt;
    at_.ordinal = *index;
    return parts_.op->indexed()->at(*index);
  }
  Slot here(Element(), at_);
  context.enter(here);
  return reader_->next(context);
}

// One more slot, or the pass's mark: false.
bool SourceBody::produce_one(Slots& out, Context& context) {
  try {
    auto element = next(context);
    if (!element) return false;
    if (!parts_.lends) element->own();
    out.emplace_back(std::move(*element), at_);
  } catch (...) {
    append_failure(out, at_);
  }
  if (!parts_.order) ++at_.ordinal;
  return true;
}

// A source has no inputs: what it failed to make is named by its position.
std::int64_t SourceBody::failed_input(const Group& group, std::size_t result) const {
  return group.slots[result].stamp.ordinal;
}

void SourceBody::run(Group& group, Context& context) {
  const auto wanted = static_cast<std::size_t>(group.admitted);
  PassControl::Pass pass;
  if (!passes_.current(pass)) return;
  bool more = !pass.fresh || begin_reading(pass.stamp, group.slots);
  more = more && !passes_.cut_requested();
  for (int passed = 0; more && group.slots.size() < wanted && passed < kPassedAtOnce;) {
    more = produce_one(group.slots, context);
    passed += leave_out_delivered(group.slots);
  }
  if (more) return;
  group.slots.push_back(passes_.close());
  resume_.reset();  // it was an element of this pass
}

// What was delivered before the checkpoint is made, but goes no further: positions only, cheap for indexable sources.
bool SourceBody::leave_out_delivered(Slots& slots) {
  if (!resume_ || slots.empty()) return false;
  if (slots.back().stamp.ordinal == resume_->ordinal) {
    resume_.reset();
    return false;
  }
  slots.pop_back();
  return true;
}

}  // namespace penstock::exec
