// FoldedResults: where elements have become more than one part of results, those that have not got their slots.
//
// They are answers, as the body gave them: lists. What has slots is in front of them, in the group's own list, and
// leaves first; then they take its place there, and get slots as far as one part goes.
//
// Thread safety: with the stage's lock held, or by the thread that seals the group's results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "lib/exec/packet.h"

namespace penstock::exec {

struct FoldedResults {
  std::int64_t bytes = 0;         // these two: see Folded, which sums them up
  std::int64_t hollow_bytes = 0;  // of these, what no result that is left holds: Sealed::hollow
  Slots answers;                  // the first of them may have begun to get its slots
  std::size_t unfolded = 0;       // results of that one that have
  std::size_t placed = 0;         // answers before them, all of whose results have
  bool is_unfolding = false;      // once more: the body has run before

  bool empty() const noexcept { return answers.empty(); }
  // Behind the first `before` of a call's answers. What had been there is in `left` then.
  void fold(Slots& left, std::size_t before) noexcept {
    placed = before;
    std::swap(answers, left);
  }
  // What had slots has left: the answers are there in its place. How many there were in front of them.
  std::size_t unfold(Slots& slots) noexcept {
    is_unfolding = true;
    slots.clear();
    std::swap(slots, answers);
    return placed;
  }
};

}  // namespace penstock::exec
