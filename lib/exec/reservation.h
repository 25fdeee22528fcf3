// Reservation: the bytes that a stage's calls reserve before they begin, and what it does where there are none.
//
// Whenever the stage's lock is free: the sum of what its groups have reserved is on the run's books;
// StageSigns::waits_for_memory is set where a call was refused, and whoever makes room then wakes the stage.
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

  // For the results of the group, as far as experience or a hint tells.
  std::int64_t expected(const Group& group) const;
  // For a call that is about to begin, one of `running`. False: there is no room.
  bool take(Group& group, std::int64_t running);
  // The same though there is no room.
  void force(Group& group);
  // Gives back what a call that was broken off, or that was refused, had.
  void give_back(Group& group);
  // The first result tells what to expect of the calls that began before it. They reserve that now, or others would
  // begin on what theirs will need.
  void take_for_first_calls(const Ring& ring);
  // What take() does that is refused, without a thread for it; `running` calls are under way. False: there is room by
  // now.
  bool wait(const Group& group, std::int64_t running);
  // Whether so many calls more on such groups may find memory.
  bool has_room(const Group& group, std::int64_t calls) const;
  // A claim has been met: who was refused on its account may look again. False: there was none.
  bool withdraw_claim() noexcept;
  // Of results that wait to leave: more than that is plenty.
  std::int64_t plenty() const { return traits_.memory.limit() / 4; }

 private:
  bool reserve(const Group& group);
  void refuse(std::int64_t bytes, bool is_idle) noexcept;

  const StageTraits& traits_;
  StageSigns& signs_;
  const StageKnobs& knobs_;
  const Meter& meter_;
  const Sizes& sizes_;
};

}  // namespace penstock::exec
