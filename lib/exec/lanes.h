// Lanes: the datasets that are open in a nest (interleave), and whose turn it is.
//
// The ring of a nest has a group for each element of its input, in that order, and one for each mark. The oldest
// `open_` of them have a place of the cycle; those behind are opened ahead. A group is called again and again: each
// call makes some slots, which wait in Inner::out until it is their turn. So a group is
//
//   waiting  for a call: fewer slots are ready than there may be
//   running
//   done     it has enough, or has ended. When its last slot has left, the group leaves the ring
//
// Whenever the stage's lock is free: places_ has the groups with a place, and null where there is none.
//
// Who waits goes first that has waited longest, then those that have not been opened; but before all the one at the
// turn, if it has nothing. Only that one may be called without room (StageState::may_force): what is due may be any
// dataset of the cycle, and what others make cannot leave before it.
//
// Where the place at the turn is free and no group is there to take it, everything waits for the input, for it decides
// what comes next. An input that is empty up to there counts as wanted at once, though datasets are open
// (wants_input).
//
// Thread safety: with the stage's lock held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "lib/exec/lane_saves.h"
#include "lib/exec/ring.h"
#include "lib/exec/sizes.h"
#include "lib/exec/turns.h"

namespace penstock::exec {

class Lanes {
 public:
  Lanes(const StageTraits& traits, Ring& ring, const Sizes& sizes, const StageKnobs& knobs);

  // A group that is to be admitted, of an element, an error or a mark. False: it is of no use, as it was used up when
  // the run was resumed, or is a save point.
  bool admit(Group& group);
  // Whether another one is to be admitted. `piles_up`: those that there are wait for memory.
  bool admits(bool piles_up) const { return wants_input() || (!traits_.one_at_a_time && !piles_up); }
  // Before a call of the group is given memory.
  void prepare(Group& group) const;
  // The group's slots are ready: of an error that was admitted, or of a call that has ended.
  void add(Group& group);
  // The same of results of a call that goes on (Parts): the call may have ended meanwhile.
  void add_part(Group& group, Slots& slots);
  // Nobody wants the group, which does not run: it is called once more, to let go of its dataset.
  void give_up(Group& group);
  // Appends what may leave now, at most `credits` slots, save points among them.
  void collect(Slots& out, std::int64_t credits);
  Resumes& resumes() noexcept { return saves_; }

  // It is at the turn and has nothing.
  bool is_due(const Group& group) const { return at_turn() == &group && !group.inner->has_slot(); }
  // Calls beyond the parallelism: all of these may wait in datasets whose turn it is not, as for a socket. The one that
  // is due goes on all the same, unless the user has fixed the number of calls: so those that take long do not count.
  // `calls`: under way.
  std::int64_t calls_beyond(std::int64_t calls) const;
  bool wants_input() const { return (at_turn() == nullptr || saves_.takes_back()) && open_ == ring_.groups().size(); }

 private:
  // Whether a call would make so much that it is worth it.
  bool is_worth_a_call(const Inner& inner) const {
    return !traits_.one_at_a_time && 2 * (buffer_ - inner.ready()) >= buffer_;
  }
  bool ends_turns(const Group& group) const { return !group.inner && group.mark->ends_input(traits_.plan.depth); }
  Group* at_turn() const { return turns_.place() < places_.size() ? places_[turns_.place()] : nullptr; }
  bool step(Slots& out, std::int64_t& credits);
  void give_save_point(Slots& out, std::int64_t& credits);
  bool take_place(Slots& out, std::int64_t& credits);
  bool pass_mark(Group& mark, Slots& out, std::int64_t& credits);
  bool give(Group& group, Slots& out, std::int64_t& credits);
  void leave(Group& group);
  bool go_to_another(std::int64_t credits);
  void call_again(Group& group);
  void wait(Group& group);
  void put_first(Group& group);

  const StageTraits& traits_;
  Ring& ring_;
  const Sizes& sizes_;
  const StageKnobs& knobs_;
  Turns turns_;
  LaneSaves saves_;
  std::vector<Group*> places_;
  std::size_t open_ = 0;
  std::int64_t passes_ = 0;  // of the input, that have ended
  // Of the pass that slots leave in. One of the same pass of this nest may have begun before a repeat's pass ended:
  // what follows is to see sequences rise.
  std::uint64_t sequence_ = 0;
  std::int64_t buffer_;  // slots of each dataset that may be ready, as of the last call that ended
  // Groups wait in the order of their numbers, which the ring gives from 0 on: those that are called again before
  // those, and before all the one that is due.
  static constexpr std::int64_t kFirstNumber = std::numeric_limits<std::int64_t>::min() / 2;
  std::int64_t next_number_ = kFirstNumber;
  std::int64_t due_number_ = kFirstNumber;
};

}  // namespace penstock::exec
