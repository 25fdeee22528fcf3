// Inbox: what has come to a stage and is in no group yet, and how much room the stage before has been promised.
//
// Whenever the stage's lock is free: promised_ = credits given and not yet used + slots that wait. It is at most the
// capacity at the last top_up(). Where the capacity has become smaller, there is no top-up until enough has been used.
//
// Thread safety: with the stage's lock held.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/exec/group.h"
#include "lib/exec/packet.h"
#include "lib/exec/stage_traits.h"

namespace penstock::exec {

class Inbox {
 public:
  // `marks`: levels that the end of a pass may have.
  Inbox(const StageTraits& traits, std::size_t marks) : traits_(traits), closed_(marks, -1) {}

  // Takes at least one slot, at most as many as were promised.
  void receive(Slots&& slots);
  std::int64_t waiting() const noexcept { return count_; }

  // Moves the oldest slots into the group until it has `most`, or a mark or a save point.
  void fill(Group& group, std::int64_t most);

  // New credits for the stage before, up to this capacity. 0 while they are less than half of it, since each time a
  // thread may have to be woken for them.
  std::int64_t top_up(std::int64_t capacity);

  // Nobody wants what is still to come of the passes from `first` to `last`: everything is left out up to the mark that
  // ends `last`, which has a level of at least `depth`. Does nothing if that mark has been here.
  void leave_out(std::size_t depth, std::uint64_t first, std::uint64_t last);
  // Takes elements and errors of such a pass out of `slots`, and gives their bytes back. Marks stay, for stages further
  // down count passes by them.
  void drop(Slots& slots);
  // What was dropped, to be destroyed without the lock: users' code.
  void swap_dropped(Slots& slots) noexcept { dropped_.swap(slots); }
  // Moves a packet that waits to `to`, which is empty, for the same reason. False: none is left. At the end of a run:
  // what was taken from the first one is not counted.
  bool let_go(Slots& to) noexcept;

 private:
  bool take_from_front(Group& group, std::int64_t most);
  void note_mark(const Slot& mark);

  const StageTraits& traits_;
  Queue<Slots> packets_;
  std::size_t taken_ = 0;  // slots already taken from packets_.front()
  std::int64_t count_ = 0;
  std::int64_t promised_ = 0;
  std::vector<std::int64_t> closed_;  // [d]: sequence of the last mark that went into a group with a level >= d
  bool skipping_ = false;             // everything up to a mark of skip_depth_ is unwanted
  std::size_t skip_depth_ = 0;
  std::uint64_t skip_last_ = 0;  // where several passes are unwanted: the mark must be of this one, or of a later one
  Slots dropped_;
};

}  // namespace penstock::exec
