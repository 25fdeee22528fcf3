#include "lib/exec/merge_saves.h"

#include <utility>

namespace penstock::exec {

// ------------------------------------------------------------------------------------------------ to go on

std::vector<SavePointRef> MergeSaves::resume_from(const SavePointRef& here) {
  std::vector<SavePointRef> inputs(ports_.size());
  if (here == nullptr) return inputs;
  check_inputs(*here, inputs.size());
  StateReader in(here->state);
  auto digits = read_digits(passes_.depth(), in);
  passes_.wind_to(digits);
  if (is_in_step_) inputs = ports_.resume_from(*here, in, std::move(digits));
  is_resumed_ = true;
  if (in.number(0, 1) == 1) restores_ = in.text();
  in.expect_end();
  return inputs;
}

bool MergeSaves::begin_pass() {
  begins_pass_ = is_as_new_ = true;
  const bool is_resumed = std::exchange(is_resumed_, false);
  if (is_resumed) ports_.ask_all_to_catch_up();
  if (!restores_) return is_resumed;
  is_as_new_ = false;
  const std::string saved = *std::exchange(restores_, std::nullopt);
  restore_or_give_up(host_, StateReader(saved), [&](StateReader& in) { state_.restore(in); });
  return true;
}

void MergeSaves::end_pass() noexcept {
  restores_.reset();
  is_resumed_ = false;
}

// ------------------------------------------------------------------------------------------------ its own

// At a pass's beginning at once: nothing else tells where it begins. Each lists all inputs, so as many runs lie between
// two of them.
bool MergeSaves::is_due() {
  const SaveSpacing* const spacing = host_.saves();
  ++runs_;
  if (spacing == nullptr) return false;
  if (std::exchange(begins_pass_, false)) return true;
  const bool is_worth_it =
      (ports_.has_saved() || !is_in_step_) && runs_ - saved_.slots >= static_cast<std::int64_t>(ports_.size());
  return is_worth_it && saved_.is_due(*spacing, host_.now(), runs_);
}

// Where they stand hangs on the time, so no error may hang on them: what throws is as good as false.
std::optional<Slot> MergeSaves::due(const Stamp& pass) try {
  if (!is_due()) return std::nullopt;
  StateWriter out, of_state;
  write_digits(passes_.digits(), out);
  SavePoint point{.inputs = std::vector<SavePoint::Input>(ports_.size()), .held = {}, .state = {}};
  if (is_in_step_) point.inputs = ports_.save(out);
  if (!is_as_new_ && (!state_.save(of_state) || of_state.held_count() > 0)) return std::nullopt;
  out.number(is_as_new_ ? 0 : 1);
  if (!is_as_new_) out.text(of_state.bytes());
  point.state = out.bytes();
  saved_ = {host_.now(), runs_};
  return save_point_slot(std::make_shared<const SavePoint>(std::move(point)), pass);
} catch (...) {
  return std::nullopt;
}

}  // namespace penstock::exec
