#include "lib/exec/lanes.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "lib/exec/inner.h"

namespace penstock::exec {
namespace {

bool is_used_up(const Group& group) {
  const Inner& inner = *group.inner;
  return group.state == Group::State::done && inner.has_ended && !inner.has_slot() && !inner.has_part_out;
}

// It takes a place; or it is a mark that passes by, if there is room for it.
bool may_come(const Group& next, std::int64_t credits, std::size_t depth) {
  return next.inner != nullptr || (credits > 0 && !next.mark->ends_input(depth));
}

}  // namespace

Lanes::Lanes(const StageTraits& traits, Ring& ring, const Sizes& sizes, const StageKnobs& knobs)
    : traits_(traits),
      ring_(ring),
      sizes_(sizes),
      knobs_(knobs),
      turns_(traits.plan.nest.cycle_length, traits.plan.nest.block_length),
      saves_(traits, turns_),
      buffer_(sizes.inner_buffer()) {}

// ------------------------------------------------------------------------------------------------ calls

bool Lanes::admit(Group& group) {
  Slot& slot = group.slots.front();
  if (group.mark) {
    if (ends_turns(group)) {
      ++passes_;
      saves_.admit_end_of_pass(slot);
    }
    return true;
  }
  if (slot.kind() == Slot::Kind::save_point) {
    saves_.note(std::move(slot));
    group.slots.clear();
    return false;
  }
  const LaneSaves::Admission input = saves_.admit(slot);
  if (input.is_left_out) return false;
  group.inner = std::make_unique<Inner>(slot.stamp, passes_);
  group.inner->through = input.through;
  group.inner->given = input.given;
  group.inner->again = LeftOut(input.given, false);
  group.inner->has_ended = !slot.is_element();
  prepare(group);
  return true;
}

void Lanes::prepare(Group& group) const {
  group.inner->wanted = group.is_unwanted ? 0 : std::max<std::int64_t>(buffer_ - group.inner->ready(), 1);
  group.inner->grain_ns = knobs_.grain_ns;
}

void Lanes::add(Group& group) {
  group.state = Group::State::done;
  if (group.inner->has_part_out) return std::swap(group.inner->behind_part, group.slots);
  group.inner->add(group.slots);
  call_again(group);
}

void Lanes::add_part(Group& group, Slots& slots) {
  Inner& inner = *group.inner;
  inner.has_part_out = false;
  inner.add(slots);
  if (group.state == Group::State::running) return;
  inner.add(inner.behind_part);
  call_again(group);
}

// Unless it has enough, or has ended.
void Lanes::call_again(Group& group) {
  buffer_ = sizes_.inner_buffer();
  if (!group.inner->has_ended && (group.is_unwanted || is_worth_a_call(*group.inner))) wait(group);
}

void Lanes::give_up(Group& group) {
  if (group.inner->has_part_out) return;  // looked at again when that is there
  if (group.state == Group::State::done && !group.inner->has_ended) wait(group);
  if (group.state == Group::State::waiting) {
    prepare(group);
    put_first(group);
  }
}

void Lanes::wait(Group& group) {
  group.state = Group::State::waiting;
  group.place.number = next_number_++;
  prepare(group);
  ring_.put_in_line(group);
}

void Lanes::put_first(Group& group) {
  if (&ring_.first_ready() == &group) return;
  group.place.number = --due_number_;
  ring_.put_first(group);
}

std::int64_t Lanes::calls_beyond(std::int64_t calls) const {
  const bool is_needed = calls >= knobs_.parallelism && ring_.has_ready() && is_due(ring_.first_ready());
  if (!is_needed || !traits_.plan.parallelism.is_automatic()) return 0;
  const std::int64_t now = traits_.machine.now();
  return std::ranges::count_if(ring_.groups(), [&](const auto& group) {
    return group->state == Group::State::running && now - group->start.ns > kLongCall;
  });
}

// ------------------------------------------------------------------------------------------------ turns

void Lanes::collect(Slots& out, std::int64_t credits) {
  const auto step_on = [&] {
    while (step(out, credits)) {
    }
  };
  if (credits > 0 && !saves_.begins_pass() && saves_.is_due()) {
    --credits;  // one is kept for the save point, which ends a group
    step_on();
    give_save_point(out, ++credits);
  }
  step_on();
}

// False: nothing more may leave.
bool Lanes::step(Slots& out, std::int64_t& credits) {
  Group* const group = at_turn();
  if (group == nullptr || saves_.takes_back()) return take_place(out, credits) || go_to_another(credits);
  if (group->inner->has_slot()) return give(*group, out, credits);
  if (is_used_up(*group)) {
    leave(*group);
    return true;
  }
  if (group->state == Group::State::done && !group->inner->has_part_out) wait(*group);
  if (group->state == Group::State::waiting) put_first(*group);
  return go_to_another(credits);
}

// By the next group. A mark leaves when all that is before it has: but for one that ends a pass of a repeat before the
// nest, of whose next pass the datasets take turns with those of this one.
bool Lanes::take_place(Slots& out, std::int64_t& credits) {
  if (open_ == ring_.groups().size()) return false;
  Group& next = *ring_.groups()[open_];
  if (next.inner) {
    if (saves_.begins_pass() && credits > 0) give_save_point(out, credits);
    const std::size_t place = saves_.take_place(next.inner->through);
    if (place >= places_.size()) places_.resize(place + 1);
    places_[place] = &next;
    ++open_;
    return true;
  }
  if (ends_turns(next) && open_ > 0) {
    saves_.give_up();
    turns_.go_to(next_taken(places_, turns_.place(), [](const Group* group) { return group != nullptr; }));
    return true;
  }
  return pass_mark(next, out, credits);
}

bool Lanes::pass_mark(Group& mark, Slots& out, std::int64_t& credits) {
  if (credits == 0) return false;
  const bool ends_input = ends_turns(mark);
  sequence_ = mark.mark->sequence + 1;
  out.push_back(std::move(mark.slots.front()));
  --credits;
  ring_.retire(open_);
  if (!ends_input) return true;
  turns_.go_to(0);
  saves_.end_pass();
  return true;
}

// Where they stand now, if one is due.
void Lanes::give_save_point(Slots& out, std::int64_t& credits) {
  SavePointRef point = saves_.due(places_);
  if (point == nullptr) return;
  out.push_back(save_point_slot(std::move(point), saves_.pass()));
  out.back().stamp.sequence = std::max<std::uint64_t>(out.back().stamp.sequence, sequence_) & kSequences;
  --credits;
}

bool Lanes::give(Group& group, Slots& out, std::int64_t& credits) {
  if (credits == 0) return false;
  Inner& inner = *group.inner;
  inner.out_bytes -= inner.out[inner.left].bytes();
  inner.given.add(inner.out[inner.left]);
  out.push_back(std::move(inner.out[inner.left++]));
  if (out.back().stamp.sequence < sequence_) out.back().stamp.sequence = sequence_ & kSequences;
  --credits;
  saves_.give();
  turns_.give();
  const bool may_wait = group.state == Group::State::done && !inner.has_ended && !inner.has_part_out;
  if (may_wait && is_worth_a_call(inner)) wait(group);
  return true;
}

void Lanes::leave(Group& group) {
  places_[turns_.place()] = nullptr;
  --open_;
  const auto& groups = ring_.groups();
  const auto at = std::ranges::find_if(groups, [&](const auto& other) { return other.get() == &group; });
  ring_.retire(static_cast<std::size_t>(at - groups.begin()));
  turns_.go_on();
}

// In arbitrary order, to a place whose dataset has something, or that the next one may take.
bool Lanes::go_to_another(std::int64_t credits) {
  if (traits_.plan.order == Order::kept) return false;
  const bool is_next_there =
      open_ < ring_.groups().size() && may_come(*ring_.groups()[open_], credits, traits_.plan.depth);
  const auto moves = [&](const Group* group) {
    return group == nullptr ? is_next_there : group->inner->has_slot() || is_used_up(*group);
  };
  const auto other = std::ranges::find_if(places_, moves);
  const auto place = static_cast<std::size_t>(other - places_.begin());
  const bool is_there =
      other != places_.end() || (is_next_there && place < static_cast<std::size_t>(traits_.plan.nest.cycle_length));
  if (is_there) turns_.go_to(place);
  return is_there;
}

}  // namespace penstock::exec
