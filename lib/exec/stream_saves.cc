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
  until_ = input.since;
  in_its_order_ = by_number_ = here->held.list();
  std::ranges::sort(by_number_);
  if (!here->state.empty()) saved_ = here->state;
  note(input.at, 0);
  has_news_ = false;
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
  std::vector<StateReader::Held> held = kept_in_its_order();
  const std::string saved = *std::move(saved_);
  forget_what_was();
  is_as_new_ = false;
  restore_or_give_up(host_, StateReader(saved, std::move(held), until_), [&](StateReader& in) {
    in.number(kHasState, kHasState);
    state_.restore(in);
  });
}

std::vector<StateReader::Held> StreamSaves::kept_in_its_order() {
  std::vector<StateReader::Held> held;
  for (const std::int64_t number : in_its_order_) {
    const auto kept = std::ranges::lower_bound(kept_, number, {}, &StateReader::Held::input);
    if (kept != kept_.end() && kept->input == number) held.push_back(std::move(*kept));
  }
  return held;
}

void StreamSaves::forget_what_was() noexcept {
  saved_.reset();
  kept_.clear();
  held_bytes_ = 0;
}

// ------------------------------------------------------------------------------------------------ its own

void StreamSaves::begin_pass() noexcept {
  until_ = next_;
  forget_what_was();
  is_resumed_ = false;
  is_as_new_ = true;
  noted_.clear();
  noted_bytes_ = 0;
  has_news_ = false;
  given_at_ = held_then_ = 0;
}

void StreamSaves::note(SavePointRef point, std::int64_t next) {
  noted_.push_back({next, std::move(point)});
  noted_bytes_ += bytes_of(noted_.back());
  has_news_ = true;
  if (noted_.size() > kMostNoted) thin_out();
}

std::int64_t StreamSaves::bytes_of(const Noted& noted) noexcept {
  return noted.point != nullptr ? noted.point->bytes() : 0;
}

// What an op holds for long is read again from further back then.
void StreamSaves::thin_out() {
  for (std::size_t i = 1; i + 1 < noted_.size(); ++i) {
    noted_bytes_ -= bytes_of(noted_[i]);
    noted_.erase(noted_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Null: what comes before is not known.
const StreamSaves::Noted* StreamSaves::last_before(std::int64_t oldest) {
  const auto behind = std::ranges::upper_bound(noted_, oldest, {}, &Noted::next);
  if (behind == noted_.begin()) return nullptr;
  for (auto gone = noted_.begin(); gone != behind - 1; ++gone) noted_bytes_ -= bytes_of(*gone);
  noted_.erase(noted_.begin(), behind - 1);
  return &noted_.front();
}

SavePointRef StreamSaves::given(SavePoint point, std::int64_t next) {
  has_news_ = false;
  given_at_ = next;
  held_then_ = point.held.count;
  return std::make_shared<const SavePoint>(std::move(point));
}

void SavePace::note(std::int64_t begin, std::int64_t now, std::int64_t held) noexcept {
  constexpr double kInverseShare = 100;
  constexpr std::int64_t kLongestPause = 250'000'000;
  const double each = static_cast<double>(now - begin) / static_cast<double>(std::max<std::int64_t>(held, 1));
  each_ns_ = each_ns_ == 0 ? each : std::min(each_ns_, each);
  saved_ns_ = now;
  pause_ns_ = std::min(kLongestPause, static_cast<std::int64_t>(kInverseShare * each_ns_ * static_cast<double>(held)));
}

bool StreamSaves::is_worth_it(std::int64_t next, std::int64_t now) const {
  const SaveSpacing* const spacing = host_.saves();
  const bool is_cheap = spacing == nullptr || spacing->shortest_ns == 0 || !pace_.is_too_soon(now);
  return is_cheap && next - given_at_ >= held_then_;
}

// Where they stand hangs on the time, so no error may hang on them: what throws is as good as false.
SavePointRef StreamSaves::point(std::int64_t next) try {
  const std::int64_t begin = host_.now();
  if (takes_up() || !is_worth_it(next, begin)) return nullptr;
  StateWriter out;
  if (!is_as_new_) out.number(kHasState);
  if (!is_as_new_ && !state_.save(out)) {
    last_before(next);  // what came before it is of no use
    return nullptr;
  }
  pace_.note(begin, host_.now(), out.held_count());
  const std::int64_t count = out.held_count();
  const Noted* const base = last_before(count == 0 ? next : std::min(out.least_held(), next));
  if (base == nullptr) return nullptr;
  return given({.inputs = {{base->point, next - base->next}},
                .held = {out.take_held(), count, base->next},
                .state = out.bytes()},
               next);
} catch (...) {
  return nullptr;
}

}  // namespace penstock::exec
