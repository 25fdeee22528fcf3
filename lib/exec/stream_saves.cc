#include "lib/exec/stream_saves.h"

#include <algorithm>
#include <utility>

#include "lib/exec/body.h"

namespace penstock::exec {

// ------------------------------------------------------------------------------------------------ to go on

std::vector<SavePointRef> StreamSaves::resume_from(const SavePointRef& here) {
  if (here == nullptr) return {nullptr};
  check_inputs(*here, 1);
  const SavePoint::Input& input = here->inputs.front();
  is_resumed_ = true;
  until_ = input.since;
  in_its_order_ = by_number_ = here->held;
  std::ranges::sort(by_number_);
  if (!here->state.empty() || !here->held.empty()) saved_ = here->state;
  noted_.push_back({0, input.at});
  return {input.at};
}

std::optional<Slot> StreamSaves::keep(Slot&& slot) {
  const std::int64_t number = next_++;
  if (passed_ == by_number_.size() || by_number_[passed_] != number) return std::nullopt;
  ++passed_;
  if (!slot.is_element()) return std::move(slot);
  held_bytes_ += slot.bytes();
  kept_.push_back({std::move(slot), number});
  return std::nullopt;
}

void StreamSaves::restore() noexcept {
  if (takes_up() || !saved_) return;
  try {
    restore_state();
  } catch (...) {
    host_.give_up(detail::current_failure());
  }
}

void StreamSaves::restore_state() {
  std::vector<StateReader::Held> held;
  for (const std::int64_t number : in_its_order_) {
    const auto kept = std::ranges::lower_bound(kept_, number, {}, &StateReader::Held::input);
    if (kept != kept_.end() && kept->input == number) held.push_back(std::move(*kept));
  }
  const std::string saved = *saved_;
  forget_what_was();
  is_as_new_ = false;
  StateReader in(saved, std::move(held), until_);
  state_.restore(in);
  if (!in.is_at_end()) fail_to_resume();
}

void StreamSaves::forget_what_was() noexcept {
  saved_.reset();
  kept_.clear();
  held_bytes_ = 0;
}

// ------------------------------------------------------------------------------------------------ its own

void StreamSaves::begin_pass() noexcept {
  if (takes_up()) missed_ = true;
  until_ = next_;
  forget_what_was();
  is_resumed_ = false;
  is_as_new_ = true;
  noted_.clear();
  has_news_ = false;
  given_at_ = held_then_ = 0;
}

void StreamSaves::note(SavePointRef point, std::int64_t next) {
  noted_.push_back({next, std::move(point)});
  has_news_ = true;
}

// Null: what comes before is not known.
const StreamSaves::Noted* StreamSaves::last_before(std::int64_t oldest) {
  const auto behind = std::ranges::upper_bound(noted_, oldest, {}, &Noted::next);
  if (behind == noted_.begin()) return nullptr;
  noted_.erase(noted_.begin(), behind - 1);
  return &noted_.front();
}

SavePointRef StreamSaves::given(SavePoint point, std::int64_t next) {
  has_news_ = false;
  given_at_ = next;
  held_then_ = static_cast<std::int64_t>(point.held.size());
  return std::make_shared<const SavePoint>(std::move(point));
}

// Where they stand hangs on the time, so no error may hang on them: what throws is as good as false.
SavePointRef StreamSaves::point(std::int64_t next) try {
  if (takes_up() || next - given_at_ < held_then_) return nullptr;
  StateWriter out;
  if (!is_as_new_ && !state_.save(out)) return nullptr;
  std::vector<std::int64_t> held = out.held_inputs();
  const Noted* const base = last_before(held.empty() ? next : std::min(std::ranges::min(held), next));
  if (base == nullptr) return nullptr;
  for (std::int64_t& number : held) number -= base->next;
  return given({.inputs = {{base->point, next - base->next}}, .held = std::move(held), .state = out.bytes()}, next);
} catch (...) {
  return nullptr;
}

}  // namespace penstock::exec
