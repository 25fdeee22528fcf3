#include "lib/exec/stream_saves.h"

#include <algorithm>
#include <utility>

#include "lib/exec/body.h"

namespace penstock::exec {
namespace {

// Before what the state writes, which may be nothing; where it is as new there is not even this.
constexpr std::int64_t kHasState = 1;

}  // namespace

// ------------------------------------------------------------------------------------------------ to go on

std::vector<SavePointRef> StreamSaves::resume_from(const SavePointRef& here) {
  if (here == nullptr) return {nullptr};
  check_inputs(*here, 1);
  const SavePoint::Input& input = here->inputs.front();
  is_resumed_ = true;
  again_ = LeftOut(input.since, traits_.input_keeps_numbers);
  for (const std::int64_t number : here->held.list()) wanted_.push_back({number, wanted_.size()});
  std::ranges::sort(wanted_, {}, &Wanted::number);
  kept_.reserve(wanted_.size());
  if (!here->state.empty()) saved_ = here->state;
  if (!saved_ && !wanted_.empty()) fail_to_resume();
  note(input.at, 0);
  has_news_ = false;
  return {input.at};
}

void StreamSaves::keep(Slot&& slot) {
  const std::int64_t number = next_++;
  errors_ += !slot.is_element();
  if (!again_.take(slot)) host_.give_up(fails_this_time(slot));
  if (kept_.size() == wanted_.size() || wanted_[kept_.size()].number != number) return;
  held_bytes_ += slot.bytes();
  kept_.push_back({std::move(slot), number});
}

void StreamSaves::restore() noexcept {
  if (takes_up() || !saved_) return;
  const bool is_whole = kept_.size() == wanted_.size();
  put_in_its_order();
  const std::string saved = *std::move(saved_);
  StateReader from(saved, std::exchange(kept_, {}), next_);
  forget_what_was();
  is_as_new_ = false;
  restore_or_give_up(host_, std::move(from), [&](StateReader& in) {
    if (!is_whole) fail_to_resume();
    in.number(kHasState, kHasState);
    state_.restore(in);
  });
}

void StreamSaves::put_in_its_order() noexcept {
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    for (std::size_t place = wanted_[i].place; place != i && place < kept_.size(); place = wanted_[i].place) {
      std::swap(kept_[i], kept_[place]);
      std::swap(wanted_[i], wanted_[place]);
    }
  }
}

// With the memory of the lists: they are large where the op's buffer is.
void StreamSaves::forget_what_was() noexcept {
  saved_.reset();
  wanted_ = {};
  kept_ = std::vector<StateReader::Held>();
  held_bytes_ = 0;
}

std::int64_t StreamSaves::held_bytes() const noexcept {
  const auto list = static_cast<std::int64_t>(wanted_.capacity() * sizeof(Wanted));
  return held_bytes_ + list + noted_.bytes();
}

// ------------------------------------------------------------------------------------------------ its own

void StreamSaves::end_pass(const Slot& mark) noexcept {
  if (takes_up()) ended_short_ = static_cast<std::int64_t>(mark.stamp.sequence);
  again_ = {};
  forget_what_was();
  is_resumed_ = false;
  is_as_new_ = true;
  noted_.clear();
  has_news_ = false;
  errors_ = 0;
}

void StreamSaves::note(SavePointRef point, std::int64_t next) {
  noted_.note({.before = {next, errors_}, .point = std::move(point)});
  has_news_ = true;
}

bool StreamSaves::is_worth_it() const {
  const SaveSpacing* const spacing = host_.saves();
  return is_as_new_ || spacing == nullptr || pace_.allows(*spacing, host_.now());
}

// Where save points stand hangs on the time, so no error may hang on them: what throws is as good as false. That takes
// time, too.
bool StreamSaves::save(StateWriter& out) {
  if (is_as_new_) return true;
  const std::int64_t begin = host_.now();
  bool can_say = false;
  out.number(kHasState);
  try {
    can_say = state_.save(out);
  } catch (...) {
  }
  pace_.note(begin, host_.now(), out.held_count());
  return can_say;
}

SavePointRef StreamSaves::point(std::int64_t next) {
  if (takes_up() || !is_worth_it()) return nullptr;
  StateWriter out;
  const bool can_say = save(out);
  const std::int64_t count = can_say ? out.held_count() : 0;
  const NotedPoint* const base = noted_.last_before(0, count == 0 ? next : std::min(out.least_held(), next));
  if (base == nullptr || !can_say) return nullptr;
  has_news_ = false;
  return std::make_shared<const SavePoint>(SavePoint{.inputs = {{base->point, SlotCount{next, errors_} - base->before}},
                                                     .held = {out.take_held(), count, base->before.slots},
                                                     .state = out.bytes()});
}

}  // namespace penstock::exec
