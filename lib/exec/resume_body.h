// ResumeBody: leaves out what a checkpoint says has been delivered, in front of the first stream op.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "lib/exec/body.h"

namespace penstock::exec {

// Whether both stamps are of the same element of an epoch.
inline bool same_element(const Stamp& a, const Stamp& b) noexcept {
  return a.pass == b.pass && a.ordinal == b.ordinal && a.sub == b.sub;
}

class ResumeBody final : public Body {
 public:
  ResumeBody(std::unique_ptr<Body> body, const Stamp& last) : body_(std::move(body)), last_(last) {}

  void run(Group& group, Context& context) override {
    if (last_) std::erase_if(group.slots, [this](const Slot& slot) { return was_delivered(slot); });
    body_->run(group, context);
  }
  void begin() override { body_->begin(); }
  std::int64_t held_bytes() const override { return body_->held_bytes(); }

 private:
  bool was_delivered(const Slot& slot) {
    if (!last_ || slot.kind() == Slot::Kind::pass_end) return false;
    if (slot.is_element() && same_element(slot.stamp, *last_)) last_.reset();
    return true;
  }

  std::unique_ptr<Body> body_;
  std::optional<Stamp> last_;
};

}  // namespace penstock::exec
