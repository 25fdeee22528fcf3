// Ring: the groups of a stage, in the order of their inputs.
//
// Whenever the stage's lock is free: in_window() = sum of what all groups have admitted. `ready_` has the waiting
// groups that the body has not run (those that it has run wait in Folded), in the order of the ring, which is the order
// of their numbers. Parts of a call that goes on stand before its group with larger numbers, but they never wait. How
// far groups may be ahead of the oldest one that is not done is looked at when they begin: RingBounds.
//
// A group comes into groups_ first and then into ready_: where there is no memory for the second, nobody finds one that
// is no more.
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

// How far groups that begin may be ahead of older ones.
struct RingBounds {
  std::int64_t window;  // slots
  bool has_plenty;      // of folded results, which may have to wait for the oldest group: only that one may begin
};

class Ring {
 public:
  // `marks`: levels that the end of a pass may have.
  Ring(const StageTraits& traits, std::size_t marks) : traits_(traits), departed_(marks, -1) {}

  const Queue<std::unique_ptr<Group>>& groups() const noexcept { return groups_; }
  std::int64_t in_window() const noexcept { return in_window_; }

  // An empty group for the next inputs. Its number is higher than all before.
  std::unique_ptr<Group> new_group();
  // An empty group for what comes `offset` inputs behind the beginning of this group.
  std::unique_ptr<Group> new_part(const Group& group, std::int64_t offset);
  void append(std::unique_ptr<Group> group);
  Group& insert(std::size_t place, std::unique_ptr<Group> part);
  // `rest` is to wait.
  Group& insert_behind(const Group& group, std::unique_ptr<Group> rest);
  // The group keeps its first `count` slots. The others become the next group, which is returned. The body must not
  // have seen any of them.
  Group& keep_first(Group& group, std::int64_t count);
  // A source's group may make at most `count` elements.
  void admit_less(Group& group, std::int64_t count) noexcept;
  // The group has left (retire), or never came in (spare): another group uses its storage.
  void retire(std::size_t place);
  void spare(std::unique_ptr<Group> group);
  // Whether a mark of at least this level has left, of the pass with this sequence or of a later one.
  bool has_left(std::size_t depth, std::uint64_t sequence) const {
    return departed_[depth] >= static_cast<std::int64_t>(sequence);
  }
  // `inputs` more of this pass have come. `ends_pass`: they are the last ones.
  void count_inputs(std::int64_t inputs, bool ends_pass) noexcept {
    inputs_this_pass_ = ends_pass ? 0 : inputs_this_pass_ + inputs;
  }

  // Groups that wait for a call, oldest first.
  bool has_ready() const noexcept { return !ready_.empty(); }
  std::size_t ready() const noexcept { return ready_.size(); }
  Group& first_ready() const { return *ready_.front(); }
  void pop_ready() { ready_.pop_front(); }
  void put_in_line(Group& group);
  void put_first(Group& group);  // of those in the line
  // How many slots of the waiting group may begin now.
  std::int64_t startable(const Group& group, const RingBounds& bounds) const;
  // How many of the waiting groups may begin now.
  std::int64_t startable_groups(const RingBounds& bounds) const;

  // The last group, to be destroyed without the lock; null: none is left. At the end of a run: nothing is counted.
  std::unique_ptr<Group> let_go() noexcept;

 private:
  // What lies before a group in the ring, as far as it may keep that one from beginning.
  struct Before {
    std::int64_t begun = 0;      // slots, from the oldest group that is not done on
    bool is_open = false;        // there is a group that is not done
    bool has_open_pass = false;  // and a mark in it, or behind it
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

// The last Completion that is out before `place`, which becomes the place of its group; null, and 0: none.
std::shared_ptr<AsyncTarget> target_before(const Ring& ring, std::size_t& place);

inline bool is_oldest(const Ring& ring, const Group& group) { return ring.groups().front().get() == &group; }

std::int64_t bytes_of(const Slots& slots);
std::int64_t elements_of(const Slots& slots);

}  // namespace penstock::exec
