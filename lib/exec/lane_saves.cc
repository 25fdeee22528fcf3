#include "lib/exec/lane_saves.h"

#include <algorithm>
#include <new>
#include <utility>

#include "lib/exec/inner.h"

namespace penstock::exec {

// ------------------------------------------------------------------------------------------------ inputs

LaneSaves::Admission LaneSaves::admit(const Slot& input) {
  const std::int64_t number = admitted_.slots;
  admitted_.add(input);
  if (!again_.goes_on()) return {.through = admitted_};
  if (!again_.take(input)) throw FailsThisTime{input.value.get<std::exception_ptr>()};
  if (!again_.goes_on()) taken_ = admitted_;
  const bool was_open = next_admitted_ < held_.size() && held_[next_admitted_].number == number;
  if (!was_open) return {.through = admitted_, .is_left_out = true};
  return {.through = admitted_, .given = held_[next_admitted_++].given};
}

void LaneSaves::note(Slot&& save_point) {
  noted_.note({admitted_pass_, admitted_, save_point.take<SavePointRef>(), save_point.stamp});
  has_news_ = true;
}

void LaneSaves::admit_end_of_pass(const Slot& mark) {
  ++admitted_pass_;
  if (!again_.goes_on()) return;
  ended_short_ = static_cast<std::int64_t>(mark.stamp.sequence);
  taken_ = admitted_ = admitted_ + again_.count();  // those that have not come have had their places
  again_ = {};
}

std::size_t LaneSaves::take_place(const SlotCount& through) {
  begins_pass_ = false;
  if (!takes_back()) {
    taken_ = through;
    return turns_.place();
  }
  const std::size_t place = held_[next_held_++].place;
  if (!takes_back()) turns_ = *turns_then_;
  return place;
}

// ------------------------------------------------------------------------------------------------ its own

// At a pass's beginning at once: nothing else tells where it begins.
bool LaneSaves::is_due() const {
  const SaveSpacing* const spacing = traits_.saves;
  if (spacing == nullptr || takes_back() || noted_.empty()) return false;
  if (begins_pass_) return has_news_;
  if (traits_.plan.nest.has_state) return false;
  const std::int64_t now = traits_.machine.now();
  return saved_.is_due(*spacing, now, given_) && pace_.allows(*spacing, now);
}

// Of those open and the next one.
std::int64_t LaneSaves::oldest_of(std::span<Group* const> places) const {
  std::int64_t oldest = taken_.slots;
  for (const Group* const group : places)
    if (group != nullptr) oldest = std::min(oldest, group->inner->through.slots - 1);
  return oldest;
}

// Where there is no memory for it, this one is left out.
SavePointRef LaneSaves::due(std::span<Group* const> places) try {
  if (!is_due()) return nullptr;
  const std::int64_t begin = traits_.machine.now();
  const NotedPoint* const from = noted_.last_before(pass_, oldest_of(places));
  if (from == nullptr) return nullptr;
  SavePoint point{.inputs = {{from->point, taken_ - from->before}}, .held = {}, .state = {}};
  StateWriter out;
  std::vector<std::int64_t> held;
  turns_.save(out);
  for (std::size_t place = 0; place < places.size(); ++place) {
    if (places[place] == nullptr) continue;
    const Inner& inner = *places[place]->inner;
    held.push_back(inner.through.slots - 1 - from->before.slots);
    out.number(static_cast<std::int64_t>(place));
    out.number(inner.given.slots);
    out.number(inner.given.errors);
  }
  point.held = HeldNumbers::of(held);
  point.state = out.bytes();
  stamp_ = from->stamp;
  has_news_ = begins_pass_ = false;
  const std::int64_t now = traits_.machine.now();
  saved_ = {now, given_};
  pace_.note(begin, now, std::ssize(places));
  return std::make_shared<const SavePoint>(std::move(point));
} catch (const std::bad_alloc&) {
  return nullptr;
}

// ------------------------------------------------------------------------------------------------ to go on

std::vector<SavePointRef> LaneSaves::resume_from(const SavePointRef& here) {
  if (here == nullptr) return {nullptr};
  check_inputs(*here, 1);
  const SavePoint::Input& input = here->inputs.front();
  StateReader in(here->state);
  turns_then_ = turns_;
  turns_then_->restore(in);
  std::vector<std::size_t> places;
  for (const std::int64_t number : here->held.list()) {
    places.push_back(static_cast<std::size_t>(in.number(0, traits_.plan.nest.cycle_length - 1)));
    const std::int64_t given = in.count();
    held_.push_back({number, places.back(), {given, in.number(0, given)}});
  }
  std::ranges::sort(places);
  in.expect_end();
  if (std::ranges::adjacent_find(places) != places.end()) fail_to_resume();
  std::ranges::sort(held_, {}, &Held::number);
  taken_ = input.since;
  again_ = LeftOut(input.since, false);
  noted_.note({.before = {}, .point = input.at});
  if (held_.empty()) turns_ = *turns_then_;
  return {input.at};
}

}  // namespace penstock::exec
