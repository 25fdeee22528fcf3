// The body of a source.
#include <cstddef>
#include <utility>

#include "lib/exec/body.h"
#include "lib/exec/open_call.h"

namespace penstock::exec {
namespace {

constexpr int kPassedAtOnce =
    4096;  // elements left out by one call of a source: then it is looked whether they are still wanted

}  // namespace

SourceBody::SourceBody(SourceParts parts, PassControl& passes, BodyHost& host)
    : parts_(std::move(parts)), passes_(passes), host_(host) {}

void SourceBody::resume_at(const Stamp& last) {
  resume_ = last;
  passes_.wind_to(last.pass);
}

std::vector<SavePointRef> SourceBody::resume_from(const SavePointRef& here) {
  if (here == nullptr) return {};
  check_inputs(*here, 0);
  StateReader in(here->state);
  passes_.wind_to(read_digits(passes_.depth(), in));
  is_resumed_ = true;
  goes_on_behind_.slots = in.count();
  goes_on_behind_.errors = in.number(0, goes_on_behind_.slots);
  if (in.number(0, 1) == 1) reader_state_ = in.text();
  in.expect_end();
  if (parts_.order && goes_on_behind_.slots > parts_.order->size())
    fail_to_resume(", as it stands behind " + std::to_string(goes_on_behind_.slots) +
                   " elements of a source that has only " + std::to_string(parts_.order->size()));
  return {};
}

// False: it failed, and that failure is all that the pass gives.
bool SourceBody::begin_reading(const Stamp& pass, Slots& out, Context& context) {
  at_ = pass;
  at_.ordinal = 0;
  at_.source = parts_.number;
  given_ = {};
  saved_ = {};
  try {
    if (parts_.order) {
      positions_ = {};
      parts_.order->begin_pass(pass.epoch, pass.pass);
      if (resume_) pass_over_delivered();
    } else {
      Slot here(Element(), of_no_element(pass));
      context.enter(here);
      parts_.reader->begin_pass(pass.epoch, pass.pass);
    }
    if (goes_on_behind_.slots > 0) go_to_save_point(context);
    return true;
  } catch (...) {
    if (is_resumed_ && !passes_.cut_requested()) host_.give_up(detail::current_failure());  // it had begun before
    append_failure(out, of_no_element(pass));
    return false;
  }
}

// Skips to the element to resume at, if the order knows its step. Else next() takes each step and makes nothing.
void SourceBody::pass_over_delivered() {
  if (const auto steps = parts_.order->find(resume_->ordinal)) parts_.order->skip(*steps);
}

// What a reader cannot go to it reads again: read() leaves it out.
void SourceBody::go_to_save_point(Context& context) {
  const SlotCount given = std::exchange(goes_on_behind_, {});
  if (parts_.order) return skip(given, context);
  if (!reader_state_) {
    again_ = LeftOut(given, false);
    return;
  }
  given_ = given;
  at_.ordinal = given.slots;
  const std::string state = *std::exchange(reader_state_, std::nullopt);
  restore_or_give_up(host_, StateReader(state), [&](StateReader& in) { parts_.reader->restore(in, given.slots); });
}

// In parts of a millisecond or so: an order may draw each of the positions. One that throws had an error in its place,
// which read() counts.
void SourceBody::skip(const SlotCount& positions, Context& context) {
  constexpr std::int64_t kPart = 1'000'000;  // ns
  try {
    std::int64_t at_once = 1024;
    for (std::int64_t left = positions.slots; left > 0 && !context.is_unwanted();) {
      const std::int64_t begin = host_.now(), part = std::min(left, at_once);
      parts_.order->skip(part);
      left -= part;
      if (host_.now() - begin < kPart && at_once < left) at_once *= 2;
    }
    given_ = positions;
  } catch (...) {
    parts_.order->begin_pass(at_.epoch, at_.pass);
    again_ = LeftOut(positions, false);
  }
}

bool SourceBody::is_save_point_due(bool begins_pass) const {
  const SaveSpacing* const spacing = host_.saves();
  if (spacing == nullptr || again_.goes_on()) return false;
  if (begins_pass) return true;
  const std::int64_t now = host_.now();
  return saved_.is_due(*spacing, now, given_.slots) && pace_.allows(*spacing, now);
}

// Where there is no memory for it, this one is left out.
void SourceBody::give_save_point(Slots& out) {
  try {
    const std::int64_t begin = host_.now();
    saved_ = {begin, given_.slots};
    StateWriter state, of_reader;
    write_digits(passes_.digits(), state);
    state.number(given_.slots);
    state.number(given_.errors);
    const bool has_more = given_.slots > 0 && parts_.reader && parts_.reader->save(of_reader);
    pace_.note(begin, host_.now(), 1);
    state.number(has_more ? 1 : 0);
    if (has_more) state.text(of_reader.bytes());
    out.push_back(save_point_slot(
        std::make_shared<const SavePoint>(SavePoint{.inputs = {}, .held = {}, .state = state.bytes()}), at_));
  } catch (...) {
  }
}

// Adds one more slot. False: the pass is over.
bool SourceBody::produce_one(Slots& out, Context& context) {
  const bool has_one = parts_.order ? produce_chosen(out) : produce_next(out, context);
  given_.slots += has_one;
  return has_one;
}

bool SourceBody::has_position() {
  if (positions_.given == positions_.size) {
    positions_.given = positions_.size = 0;  // and stay so if it throws
    positions_.size = parts_.order->next_few(positions_.list);
  }
  return positions_.given < positions_.size;
}

// The ordinal is written where the stamp is to stay. To copy a stamp that has just been written in part takes longer
// than all the rest: its store is not forwarded to a wider load.
bool SourceBody::produce_chosen(Slots& out) {
  try {
    if (!has_position()) return false;
    positions_.last = positions_.list[positions_.given++];
    const bool is_passed_over = resume_ && positions_.last != resume_->ordinal;  // see leave_out_delivered()
    Element element = is_passed_over ? Element() : parts_.source->at(positions_.last);
    if (!parts_.lends) element.own();
    out.emplace_back(std::move(element), at_);
  } catch (...) {
    append_failure(out, at_);
    ++given_.errors;
  }
  out.back().stamp.ordinal = positions_.last;
  return true;
}

bool SourceBody::produce_next(Slots& out, Context& context) {
  try {
    Slot here(Element(), at_);
    context.enter(here);
    auto element = parts_.reader->next(context);
    if (!element) return false;
    if (!parts_.lends) element->own();
    out.emplace_back(std::move(*element), at_);
  } catch (...) {
    append_failure(out, at_);
    ++given_.errors;
  }
  ++at_.ordinal;
  return true;
}

std::string SourceBody::origin(const Stamp& element) const {
  return parts_.reader && element.ordinal >= 0 ? parts_.reader->origin(element) : std::string();
}

// A source has no inputs: what it failed to make is named by its position.
std::int64_t SourceBody::failed_input(const Group& group, std::size_t result) const {
  return group.slots[result].stamp.ordinal;
}

void SourceBody::run(Group& group, Context& context) {
  const auto wanted = static_cast<std::size_t>(group.inputs.admitted);
  PassControl::Pass pass;
  if (!passes_.current(pass)) return;
  const bool is_open = may_read(pass, group.slots, context);
  // With a save point, a failure to begin, and the mark: others may look at the list, so it must not move.
  group.slots.reserve(wanted + 3);
  const bool is_due = is_open && is_save_point_due(pass.fresh);
  if (is_due && pass.fresh) give_save_point(group.slots);  // else nothing tells where the pass begins
  // A group ends with it: behind the elements it costs the stages behind no call of their own.
  const bool is_behind = is_due && !pass.fresh;
  if (is_open && read(group, wanted + group.slots.size() - (is_behind && wanted > 1 ? 1 : 0), context)) {
    if (is_behind) give_save_point(group.slots);
    return;
  }
  const bool was_cut = !is_open || passes_.cut_requested();
  group.slots.push_back(passes_.close());
  if (std::exchange(again_, {}).goes_on() && !was_cut) missed_ = true;
  resume_.reset();  // it was an element of this pass
  is_resumed_ = false;
  goes_on_behind_ = {};
  reader_state_.reset();
}

// Whether the pass may still have elements.
bool SourceBody::may_read(const PassControl::Pass& pass, Slots& out, Context& context) {
  if (pass.over) return false;
  if (pass.fresh && !begin_reading(pass.stamp, out, context)) return false;
  return !passes_.cut_requested();
}

// Reads at most as many elements as are wanted. False: the pass has no more.
bool SourceBody::read(Group& group, std::size_t wanted, Context& context) {
  bool more = true, wanted_back = false;
  for (int passed = 0; more && group.slots.size() < wanted && passed < kPassedAtOnce && !wanted_back;) {
    more = produce_one(group.slots, context);
    passed += leave_out_delivered(group.slots, more);
    wanted_back = more && group.is_open() && tell(*group.call, group.slots.size());
  }
  return more;
}

// The error of an order has the ordinal of the element before it, and leaves no positions.
bool SourceBody::is_to_resume_at(const Slot& slot) const {
  const bool is_of_order = parts_.order && positions_.size == 0;
  return slot.stamp.ordinal == resume_->ordinal && !is_of_order;
}

// Elements before the one to resume at go no further. For indexable sources they are positions only, which is cheap.
bool SourceBody::leave_out_delivered(Slots& slots, bool has_one) {
  if (again_.goes_on() && has_one) {
    if (!again_.take(slots.back()) && !passes_.cut_requested()) host_.give_up(fails_this_time(slots.back()));
    slots.pop_back();
    return true;
  }
  if (!resume_ || slots.empty()) return false;
  if (is_to_resume_at(slots.back())) {
    resume_.reset();
    return false;
  }
  slots.pop_back();
  return true;
}

}  // namespace penstock::exec
