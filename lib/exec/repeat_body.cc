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
  gave_something_ = true;
  return !ended_;
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
