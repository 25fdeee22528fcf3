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
  if (!input_runs_.are_asked_for()) inputs = ports_.resume_from(*here, in, std::move(digits));
  is_resumed_ = true;
  if (in.number(0, 1) == 1) restores_ = in.text();
  in.expect_end();
  return inputs;
}

void MergeSaves::begin_pass() {
  begins_pass_ = is_as_new_ = true;
  if (std::exchange(is_resumed_, false)) ports_.ask_all_to_catch_up();
  if (!restores_) return;
  is_as_new_ = false;
  const std::string saved = *std::exchange(restores_, std::nullopt);
  restore_or_give_up(host_, StateReader(saved), [&](StateReader& in) { state_.restore(in); });
}

void MergeSaves::end_pass() noexcept {
  restores_.reset();
  is_resumed_ = is_due_behind_ = false;
}

// ------------------------------------------------------------------------------------------------ its own

// Each lists all inputs, so as many runs lie between two of them.
bool MergeSaves::is_due() {
  const SaveSpacing* const spacing = host_.saves();
  if (spacing == nullptr || runs_ - saved_.slots < static_cast<std::int64_t>(ports_.size())) return false;
  if (!ports_.has_saved() && !input_runs_.are_asked_for()) return false;
  const std::int64_t now = host_.now();
  return saved_.is_due(*spacing, now, runs_) && pace_.allows(*spacing, now);
}

void MergeSaves::begin_run(const Stamp& pass, Slots& out) {
  ++runs_;
  const bool is_at_once = std::exchange(begins_pass_, false) && host_.saves() != nullptr;
  if (is_at_once) give(pass, out);
  is_due_behind_ = !is_at_once && is_due();
}

void MergeSaves::end_run(const Stamp& pass, Slots& out) {
  if (std::exchange(is_due_behind_, false)) give(pass, out);
}

bool MergeSaves::save(StateWriter& out) {
  StateWriter state;
  if (!is_as_new_ && (!state_.save(state) || state.held_count() > 0)) return false;
  out.number(is_as_new_ ? 0 : 1);
  if (!is_as_new_) out.text(state.bytes());
  return true;
}

// Where they stand hangs on the time, so no error may hang on them: what throws is as good as false.
void MergeSaves::give(const Stamp& pass, Slots& out) try {
  const std::int64_t begin = host_.now();
  saved_ = {begin, runs_};
  StateWriter text;
  write_digits(passes_.digits(), text);
  SavePoint point{.inputs = std::vector<SavePoint::Input>(ports_.size()), .held = {}, .state = {}};
  if (!input_runs_.are_asked_for()) point.inputs = ports_.save(text);
  const bool can_say = save(text);
  pace_.note(begin, host_.now(), static_cast<std::int64_t>(ports_.size()));
  if (!can_say) return;
  point.state = text.bytes();
  out.push_back(save_point_slot(std::make_shared<const SavePoint>(std::move(point)), pass));
} catch (...) {
}

}  // namespace penstock::exec
