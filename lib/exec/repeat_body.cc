// The body of an endless repeat.
#include <cstdio>
#include <utility>

#include "lib/exec/body.h"

namespace penstock::exec {

void RepeatBody::run(Group& group, Context&) {
  std::erase_if(group.slots, [this](Slot& slot) { return !keep(slot); });
}

bool RepeatBody::keep(Slot& slot) {
  if (slot.kind() == Slot::Kind::pass_end) return keep_mark(slot);
  if (slot.kind() == Slot::Kind::save_point) tell_whether_it_gave(slot);
  gave_something_ = gave_something_ || slot.is_item();
  return !ended_;
}

void RepeatBody::tell_whether_it_gave(Slot& save_point) const {
  StateWriter out;
  out.number(gave_something_ ? 1 : 0);
  SavePoint point{.inputs = {{save_point_of(save_point)}}, .held = {}, .state = out.bytes()};
  save_point = save_point_slot(std::make_shared<const SavePoint>(std::move(point)), save_point.stamp);
}

std::vector<SavePointRef> RepeatBody::resume_from(const SavePointRef& here) {
  if (here == nullptr) return {nullptr};
  check_inputs(*here, 1);
  StateReader in(here->state);
  gave_something_ = in.number(0, 1) == 1;
  in.expect_end();
  return {here->inputs.front().at};
}

bool RepeatBody::keep_mark(const Slot& mark) {
  if (mark.level() > depth_) {
    ended_ = false;
    gave_something_ = false;
    return true;
  }
  if (ended_ || mark.level() < depth_) return !ended_;
  // What nobody wants any more has been left out before it came here.
  if (!gave_something_ && !host_.is_unwanted(stage_, {depth_ + 1, mark.stamp.sequence})) {
    ended_ = true;
    warn();
    host_.cut_pass(stage_, {depth_ + 1, mark.stamp.sequence + 1});
  }
  gave_something_ = false;
  return true;
}

// Nobody who writes an endless repeat wants it to give nothing.
void RepeatBody::warn() {
  if (std::exchange(has_warned_, true)) return;
  std::fprintf(stderr,
               "penstock: %s would repeat for ever, but a pass gave neither an element nor an error, so it ends here: "
               "look at the source and the filters before it\n",
               place_.c_str());
}

}  // namespace penstock::exec
