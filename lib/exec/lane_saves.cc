#include "lib/exec/lane_saves.h"

#include <algorithm>
#include <new>
#include <utility>

#include "lib/exec/inner.h"

namespace penstock::exec {

// ------------------------------------------------------------------------------------------------ inputs

LaneSaves::Admission LaneSaves::admit() {
  const std::int64_t number = admitted_++;
  if (number >= rest_) return {.number = number};
  const bool was_open = next_admitted_ < held_.size() && held_[next_admitted_].number == number;
  if (!was_open) return {.number = number, .is_left_out = true};
  return {.number = number, .to_skip = held_[next_admitted_++].given};
}

void LaneSaves::note(Slot&& save_point) {
  noted_.note({admitted_pass_, admitted_, save_point.take<SavePointRef>(), save_point.stamp});
  has_news_ = true;
}

void LaneSaves::admit_end_of_pass() {
  ++admitted_pass_;
  admitted_ = std::max(admitted_, rest_);  // those that have not come, as the pass was cut, have had their places
  rest_ = 0;
}

std::size_t LaneSaves::take_place() {
  begins_pass_ = false;
  if (!takes_back()) {
    ++taken_;
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
  std::int64_t oldest = taken_;
  for (const Group* const group : places)
    if (group != nullptr) oldest = std::min(oldest, group->inner->number);
  return oldest;
}

// Where there is no memory for it, this one is left out.
SavePointRef LaneSaves::due(std::span<Group* const> places) try {
  if (!is_due()) return nullptr;
  const std::int64_t begin = traits_.machine.now();
  const NotedPoint* const from = noted_.last_before(pass_, oldest_of(places));
  if (from == nullptr) return nullptr;
  SavePoint point{.inputs = {{from->point, taken_ - from->next}}, .held = {}, .state = {}};
  StateWriter out;
  std::vector<std::int64_t> held;
  turns_.save(out);
  for (std::size_t place = 0; place < places.size(); ++place) {
    if (places[place] == nullptr) continue;
    const Inner& inner = *places[place]->inner;
    held.push_back(inner.number - from->next);
    out.number(static_cast<std::int64_t>(place));
    out.number(inner.given);
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
    held_.push_back({number, places.back(), in.count()});
  }
  std::ranges::sort(places);
  in.expect_end();
  if (std::ranges::adjacent_find(places) != places.end()) fail_to_resume();
  std::ranges::sort(held_, {}, &Held::number);
  rest_ = taken_ = input.since;
  noted_.note({.point = input.at});
  if (held_.empty()) turns_ = *turns_then_;
  return {input.at};
}

}  // namespace penstock::exec
