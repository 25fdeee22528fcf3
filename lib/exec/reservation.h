// Reservation: the bytes that a stage's calls reserve before they begin, and what it does where there is no room.
//
// Whenever the stage's lock is free: the sum of what its groups have reserved is charged to the run's budget.
// StageSigns::waits_for_memory is set after a call was refused, and whoever makes room then wakes the stage.
//
// Thread safety: with the stage's lock held.
#pragma once

#include <cstdint>

#include "lib/exec/ring.h"
#include "lib/exec/sizes.h"

namespace penstock::exec {

class Reservation {
 public:
  Reservation(const StageTraits& traits, StageSigns& signs, const StageKnobs& knobs, const Meter& meter,
              const Sizes& sizes)
      : traits_(traits), signs_(signs), knobs_(knobs), meter_(meter), sizes_(sizes) {}

  bool is_refused() const noexcept { return signs_.waits_for_memory; }
  void look_again() noexcept { signs_.waits_for_memory = false; }

  // Bytes that the results of the group will need, as far as experience or a hint tells.
  std::int64_t expected(const Group& group) const;
  // A dataset that nobody wants is called to let go of what it holds: that needs no memory.
  static bool needs_none(const Group& group) noexcept { return group.inner != nullptr && group.is_unwanted; }
  // Reserves for a call that is about to begin and is one of `running`. False: there is no room.
  bool take(Group& group, std::int64_t running);
  // The same, even where there is no room.
  void force(Group& group);
  // Gives back what a call that was broken off, or that was refused, had.
  void give_back(Group& group);
  // The first result of a stage tells what the calls that are under way will need. Reserves that for them now, or else
  // other calls would take that memory.
  void take_for_first_calls(const Ring& ring);
  // What a refused take() does, for a call that has no thread yet: asks for a wake-up. `running` calls are under way.
  // False: there is room by now.
  bool wait(const Group& group, std::int64_t running);
  // Whether so many calls more on such groups may find memory.
  bool has_room(const Group& group, std::int64_t calls) const;
  // This stage has got what it claimed (StageSigns::claim): stages that were refused because of the claim may look
  // again. False: it had no claim.
  bool withdraw_claim() noexcept;
  // Bytes of folded results: a stage that holds more than that begins no call but the oldest one (RingBounds).
  std::int64_t plenty() const { return traits_.memory.limit() / 4; }

 private:
  std::int64_t slots_of(const Group& group) const;
  bool reserve(const Group& group);
  void refuse(std::int64_t bytes, bool is_idle) noexcept;

  const StageTraits& traits_;
  StageSigns& signs_;
  const StageKnobs& knobs_;
  const Meter& meter_;
  const Sizes& sizes_;
};

}  // namespace penstock::exec
