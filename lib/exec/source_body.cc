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

SourceBody::SourceBody(SourceParts parts, PassControl& passes) : parts_(std::move(parts)), passes_(passes) {}

void SourceBody::resume_at(const Stamp& last) {
  resume_ = last;
  passes_.wind_to(last.pass);
}

// False: it failed, and that failure is all that the pass gives.
bool SourceBody::begin_reading(const Stamp& pass, Slots& out, Context& context) {
  at_ = pass;
  at_.ordinal = 0;
  at_.source = parts_.number;
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
    return true;
  } catch (...) {
    append_failure(out, of_no_element(pass));
    return false;
  }
}

// Skips to the element to resume at, if the order knows its step. Else next() takes each step and makes nothing.
void SourceBody::pass_over_delivered() {
  if (const auto steps = parts_.order->find(resume_->ordinal)) parts_.order->skip(*steps);
}

// Adds one more slot. False: the pass is over.
bool SourceBody::produce_one(Slots& out, Context& context) {
  return parts_.order ? produce_chosen(out) : produce_next(out, context);
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
  group.slots.reserve(wanted + 2);  // a failure to begin and the mark: others may look at the list, so it must not move
  if (is_open && read(group, wanted, context)) return;
  group.slots.push_back(passes_.close());
  resume_.reset();  // it was an element of this pass
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
    passed += leave_out_delivered(group.slots);
    wanted_back = more && group.is_open() && tell(*group.call, group.slots.size());
  }
  return more;
}

// Elements before the one to resume at go no further. For indexable sources they are positions only, which is cheap.
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
