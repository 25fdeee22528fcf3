// ResumeBody: leaves out what a checkpoint says has been delivered, in front of the first stream op.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "lib/exec/body.h"

namespace penstock::exec {

// Whether both stamps are of the same element of an epoch.
inline bool same_element(const Stamp& a, const Stamp& b) noexcept {
  return a.pass == b.pass && a.ordinal == b.ordinal && a.sub == b.sub;
}

// Whether the slot is the error of the whole element that `part` came from: if that fails this time, no part of it will
// follow. So is the error of a pass that cannot begin, for all elements of the pass: it has no ordinal.
inline bool failed_before_its_parts(const Slot& slot, const Stamp& part) noexcept {
  const bool is_whole = slot.stamp.ordinal < 0 || (slot.stamp.ordinal == part.ordinal && slot.stamp.sub == 0);
  return !slot.is_element() && slot.stamp.pass == part.pass && is_whole;
}

// For a slot that is no mark: whether it was delivered before the checkpoint. The run goes on behind `last`, which is
// cleared when that element comes by.
inline bool was_delivered(const Slot& slot, std::optional<Stamp>& last) noexcept {
  const bool is_last = same_element(slot.stamp, *last);                  // an error, if it fails this time
  const bool is_new = !is_last && failed_before_its_parts(slot, *last);  // parts not yet delivered are lost: tell
  if (is_new || is_last) last.reset();
  return !is_new;
}

class ResumeBody final : public Body {
 public:
  ResumeBody(std::unique_ptr<Body> body, const Stamp& last) : body_(std::move(body)), last_(last) {}

  void run(Group& group, Context& context) override {
    // What is left out is the group's front, so the inputs behind it keep their numbers.
    if (last_) group.place.first_ordinal += static_cast<std::int64_t>(leave_out(group.slots));
    body_->run(group, context);
  }
  Slots& results_of(Group& group) const override { return body_->results_of(group); }
  void begin() override { body_->begin(); }
  std::int64_t held_bytes() const override { return body_->held_bytes(); }
  std::int64_t failed_input(const Group& group, std::size_t result) const override {
    return body_->failed_input(group, result);
  }
  bool has_missed_resumption() const noexcept override { return missed_; }

 private:
  std::size_t leave_out(Slots& slots) {
    return std::erase_if(slots, [this](const Slot& slot) { return is_left_out(slot); });
  }
  bool is_left_out(const Slot& slot) {
    if (!last_) return false;
    if (slot.kind() != Slot::Kind::pass_end) return was_delivered(slot, last_);
    missed_ = true;  // it was not there, or the epoch was given up: other passes have such an element, too
    last_.reset();
    return false;
  }

  std::unique_ptr<Body> body_;
  std::optional<Stamp> last_;
  std::atomic<bool> missed_{false};
};

}  // namespace penstock::exec
