// Folded: the groups with results that are there already and have no slots yet (Group::folded), of calls whose elements
// have become very many.
//
// Whenever the stage's lock is free: bytes_ and hollow_bytes_ are sums over all groups of the ring. `line_` has the
// groups that are to give slots to more results, since all results that had slots have left. Their state is waiting.
// They stand in the order in which those results left, which differs from the ring's where the order is arbitrary.
//
// Thread safety: with the stage's lock held.
#pragma once

#include <cstdint>
#include <utility>

#include "lib/exec/group.h"
#include "lib/exec/packet.h"
#include "lib/exec/stage_signs.h"

namespace penstock::exec {

class Folded {
 public:
  explicit Folded(StageSigns& signs) : signs_(signs) {}

  bool empty() const noexcept { return line_.empty(); }
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(line_.size()); }

  // All results of the group that had slots have left.
  void put_in_line(Group& group) {
    line_.push_back(&group);
    signs_.has_folded.store(true, std::memory_order_relaxed);
  }
  Group& take_first() {
    Group& group = *line_.front();
    line_.pop_front();
    signs_.has_folded.store(!line_.empty(), std::memory_order_relaxed);
    return group;
  }
  // The group's folded results hold `bytes` from now on, `hollow` of them hollow. Returns the bytes before.
  std::int64_t count(Group& group, std::int64_t bytes, std::int64_t hollow) noexcept {
    const std::int64_t before = std::exchange(group.folded.bytes, bytes);
    bytes_ += bytes - before;
    hollow_bytes_ += hollow - std::exchange(group.folded.hollow_bytes, hollow);
    return before;
  }
  // Lists of results that nobody has asked for yet: more of them would only take memory.
  std::int64_t bytes() const noexcept { return bytes_ - hollow_bytes_; }
  void clear() noexcept {
    line_.clear();
    signs_.has_folded = false;
  }

 private:
  StageSigns& signs_;
  Queue<Group*> line_;
  std::int64_t bytes_ = 0;
  std::int64_t hollow_bytes_ = 0;
};

}  // namespace penstock::exec
