// Ring: the groups of a stage, in the order of their inputs.
//
// Whenever the stage's lock is free: in_window() = sum of what all groups have admitted; `ready_` has the waiting
// groups that the body is to run (it has run those that wait in Folded), in the order of the ring, which is that of
// their numbers. Parts of a call that goes on stand before it with larger numbers, but never wait there. How far the
// oldest group that is not done lets others be ahead of it is asked when they begin: RingBounds.
//
// Thread safety: with the stage's lock held.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/exec/group.h"
#include "lib/exec/packet.h"
#include "lib/exec/stage_traits.h"

namespace penstock::exec {

// What may not be in the ring at once: how far groups may be ahead.
struct RingBounds {
  std::int64_t window;  // slots
  bool has_plenty;      // of results that wait to leave: only the oldest group may begin, for they may be behind it
};

class Ring {
 public:
  // `marks`: levels that the end of a pass may have.
  Ring(const StageTraits& traits, std::size_t marks) : traits_(traits), departed_(marks, -1) {}

  const Queue<std::unique_ptr<Group>>& groups() const noexcept { return groups_; }
  bool is_oldest(const Group& group) const { return groups_.front().get() == &group; }
  std::int64_t in_window() const noexcept { return in_window_; }

  // An empty one, for the next inputs; of several, they count up.
  std::unique_ptr<Group> new_group();
  // One for what comes `offset` inputs behind the beginning of this group.
  std::unique_ptr<Group> new_part(const Group& group, std::int64_t offset);
  void append(std::unique_ptr<Group> group);
  Group& insert(std::size_t place, std::unique_ptr<Group> part);
  // It waits.
  Group& insert_behind(const Group& group, std::unique_ptr<Group> rest);
  // The group's first `count` slots stay, the others become the next group, which it gives. Neither has been seen by
  // the body.
  Group& keep_first(Group& group, std::int64_t count);
  // A source's group will make no more than that.
  void admit_less(Group& group, std::int64_t count) noexcept;
  // It has left, or never came in: its storage is for another one.
  void retire(std::size_t place);
  void spare(std::unique_ptr<Group> group);
  // Whether the mark of such a pass has left.
  bool has_left(std::size_t depth, std::uint64_t sequence) const {
    return departed_[depth] >= static_cast<std::int64_t>(sequence);
  }
  // So many inputs of this pass have come; or it has ended with them.
  void count_inputs(std::int64_t inputs, bool ends_pass) noexcept {
    inputs_this_pass_ = ends_pass ? 0 : inputs_this_pass_ + inputs;
  }

  // Groups that wait for a call, oldest first.
  std::size_t ready() const noexcept { return ready_.size(); }
  Group& first_ready() const { return *ready_.front(); }
  void pop_ready() { ready_.pop_front(); }
  void put_in_line(Group& group);
  // How many slots of the waiting group may begin now.
  std::int64_t startable(const Group& group, const RingBounds& bounds) const;
  // How many groups tokens would find.
  std::int64_t startable_groups(const RingBounds& bounds) const;

  // Lets everything go, to be destroyed without the lock.
  void let_go(Queue<std::unique_ptr<Group>>& to) noexcept;

 private:
  // What lies before a group in the ring, as far as it may keep that one from beginning.
  struct Before {
    std::int64_t begun = 0;      // slots from the oldest one on that is not done
    bool is_open = false;        // there is such a one
    bool has_open_pass = false;  // and a mark behind it
    void add(const Group& group);
  };
  bool may_all_start(const RingBounds& bounds) const;
  std::int64_t startable(const Group& group, const Before& before, const RingBounds& bounds) const;

  const StageTraits& traits_;
  Queue<std::unique_ptr<Group>> groups_;
  Queue<Group*> ready_;
  std::vector<std::unique_ptr<Group>> spare_;
  std::int64_t in_window_ = 0;
  std::int64_t next_number_ = 0;
  std::int64_t inputs_this_pass_ = 0;   // of this stage's own input; errors count, too
  std::vector<std::int64_t> departed_;  // [d]: sequence of the last mark that has left with a level >= d
};

std::int64_t bytes_of(const Slots& slots);
std::int64_t elements_of(const Slots& slots);

}  // namespace penstock::exec
