#include "lib/runtime/replay.h"

#include <utility>

#include <penstock/error.h>

#include "lib/exec/resume_body.h"
#include "lib/runtime/save_point_bytes.h"

namespace penstock::runtime {

// Which of an epoch's slots were errors is in no checkpoint, only those behind a save point are.
Replay::Replay(const Checkpoint& from, const exec::Plan& plan)
    : delivered_(from.delivered), errors_since_(from.errors_since) {
  if (!from.save_point.empty() && plan.has_save_points()) behind_ = save_point_of(from.save_point, plan);
  behind_.since.slots = behind_.at ? from.since_save_point : from.delivered;
  if (behind_.since.errors > behind_.since.slots) exec::fail_to_resume();
  if (from.has_last) last_ = from.last;
  if (from.epoch_ended) return;
  if (from.kind == Checkpoint::Kind::replay) {
    again_ = LeftOut(behind_.since, !behind_.at || plan.keeps_numbers);
  } else {
    errors_ = errors_since_;
    position_ = last_;
    if (plan.resume_stage == plan.stages.size()) until_ = last_;
  }
}

bool Replay::takes(Slot& slot) {
  if (slot.kind() == Slot::Kind::save_point) {
    if (!again_.goes_on()) return false;
    found_ = {slot.take<exec::SavePointRef>()};
    return true;
  }
  if (again_.goes_on()) return comes_again(slot);
  if (until_) return exec::was_delivered(slot, until_);
  const bool again = errors_ > 0 && !slot.is_element();
  errors_ = again ? errors_ - 1 : 0;
  return again;
}

std::optional<exec::SavePoint::Input> Replay::take_found() noexcept {
  if (again_.goes_on() || found_.at == nullptr) return std::nullopt;
  return std::exchange(found_, {});
}

// The last element is known by what it was made of.
bool Replay::comes_again(const Slot& slot) {
  if (!again_.take(slot)) {
    failure_ = fails_this_time(slot);
  } else if (last_ && again_.count().slots == errors_since_ && !exec::same_element(slot.stamp, *last_)) {
    failure_ = std::make_exception_ptr(Error(
        ErrorCode::data_loss,
        "the last element that was delivered before the checkpoint was taken is not at its place this time: an input "
        "is another one, or what failed then does not fail now, or the other way round. Resume with the input that it "
        "was taken of or from an earlier checkpoint, or start the epoch anew"));
  }
  check();
  found_.since.add(slot);
  return true;
}

void Replay::check() const {
  if (failure_) std::rethrow_exception(failure_);
}

// A position is in the pass that ends first; the epoch's end is the last chance of the rest.
std::optional<std::string> Replay::end_pass(bool engine_has_missed, bool epoch_has_ended) {
  const auto position = std::exchange(position_, std::nullopt);
  if (position && (until_ || engine_has_missed)) {
    return "element " + std::to_string(position->ordinal) + " of pass " + std::to_string(position->pass) +
           " of the source, which did not come";
  }
  const bool has_missed = behind_.at && engine_has_missed;
  if (epoch_has_ended) behind_.at = nullptr;
  const std::string there = std::to_string(delivered_) + " elements and errors, but ";
  if (has_missed) return there + "an input did not come to its place there";
  if (!epoch_has_ended || !again_.goes_on()) return std::nullopt;
  return there + "only " + std::to_string(delivered_ - again_.count().slots) + " were there";
}

}  // namespace penstock::runtime
