// FoldedResults: where a call has more results than one part may have, the results that have no slots yet.
//
// They lie here as the body answered: as lists, one for each element. The results with slots are in the group's own
// list and leave first. Then these take their place there, and as many get slots as one part may have.
//
// Thread safety: with the stage's lock held, or by the thread that seals the group's results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "lib/exec/packet.h"

namespace penstock::exec {

struct FoldedResults {
  std::int64_t bytes = 0;         // Folded has the sums of these two
  std::int64_t hollow_bytes = 0;  // of these bytes, those that no result here holds any more: Sealed::hollow
  Slots answers;                  // some results of the first one may have their slots
  std::size_t unfolded = 0;       // how many results of the first one
  std::size_t placed = 0;         // answers before these, all of whose results have their slots
  bool is_unfolding = false;      // the body has run, and the group is run again only to give slots

  bool empty() const noexcept { return answers.empty(); }
  // Takes the answers in `left`; the call had `before` more in front of them. Swaps: `left` gets what was here.
  void fold(Slots& left, std::size_t before) noexcept {
    placed = before;
    std::swap(answers, left);
  }
  // The results with slots have left: moves the answers to their place. Returns how many answers were before them.
  std::size_t unfold(Slots& slots) noexcept {
    is_unfolding = true;
    slots.clear();
    std::swap(slots, answers);
    return placed;
  }
};

}  // namespace penstock::exec
