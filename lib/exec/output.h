// Output: the results that are ready to leave a stage, and how many the next one has room for.
//
// Whenever the stage's lock is free: done_ = groups of the ring that are done, some of them without any result (but of
// a nest); unsent_ = slots of theirs that have not left. One thread emits at a time. A thread that finds another one
// emitting leaves, and the other looks again. So no thread waits.
//
// Thread safety: with the stage's lock held.
#pragma once

#include <cstdint>

#include "lib/exec/folded.h"
#include "lib/exec/lanes.h"
#include "lib/exec/meter.h"
#include "lib/exec/ring.h"
#include "lib/exec/sizes.h"

namespace penstock::exec {

class Output {
 public:
  Output(const StageTraits& traits, Ring& ring, const Sizes& sizes, const StageKnobs& knobs, Folded& folded,
         Meter& meter)
      : lanes(traits, ring, sizes, knobs), traits_(traits), ring_(ring), folded_(folded), meter_(meter) {}

  Lanes lanes;  // of a nest: what leaves next

  // The next stage has room for so many more.
  void add_credits(std::int64_t count) noexcept { credits_ += count; }
  std::int64_t credits() const noexcept { return credits_; }
  // The group is done: its slots may leave. They may be its first results only, or nothing but its mark.
  void add(Group& group) {
    unsent_ += static_cast<std::int64_t>(group.slots.size());
    if (group.inner) {
      meter_.count_dataset(*group.inner);
      return lanes.add(group);
    }
    group.state = Group::State::done;
    ++done_;
  }
  // Of a nest: slots of a call of the group that goes on.
  void add_part(Group& group, Slots& slots) {
    unsent_ += static_cast<std::int64_t>(slots.size());
    lanes.add_part(group, slots);
  }
  // Credits beyond what is ready already.
  std::int64_t room() const noexcept { return credits_ - unsent_; }
  bool is_blocked() const noexcept { return unsent_ > 0 && credits_ == 0; }

  bool is_emitting() const noexcept { return is_emitting_; }
  void set_emitting(bool emits) noexcept { is_emitting_ = emits; }

  // Everything that may leave now; null: nothing. In arbitrary order a mark still stays behind all that was admitted
  // before it.
  PacketRef collect();
  // For the last stage: `packet` (or null) as it goes to the outlet, which it tells whether to wake the consumer now or
  // more comes soon. That promise is kept by the next packet, by an empty one when nothing is under way any more, or by
  // Outlet::nudge(), if it is a stage before that brings nothing.
  PacketRef for_consumer(PacketRef packet, bool more_soon, const Sizes& sizes);
  bool owes_wake() const noexcept { return owes_wake_; }
  void clear() noexcept { unsent_ = done_ = 0; }

 private:
  void collect_in_turn(Slots& out);
  void collect_groups(Slots& out);
  bool collect_group(Group& group, bool keeps_mark, Slots& out);
  void unfold_later(Group& group);

  const StageTraits& traits_;
  Ring& ring_;
  Folded& folded_;
  Meter& meter_;
  std::int64_t credits_ = 0;
  std::int64_t unsent_ = 0;
  std::int64_t done_ = 0;
  bool is_emitting_ = false;
  bool owes_wake_ = false;  // the last packet said that more comes soon
};

}  // namespace penstock::exec
