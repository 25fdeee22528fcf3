// InputPlace: where a group's inputs stand among all that its stage gets.
//
// It is the place of the group's first slot. The slot that comes n behind it is n further in each of these counts. So
// what leaves the group, or is taken from it, has a place of its own (behind()). Groups that wait stand in the ring in
// the order of their numbers.
#pragma once

#include <cstdint>

namespace penstock::exec {

struct InputPlace {
  std::int64_t number = 0;         // groups of a stage count up
  std::int64_t first_ordinal = 0;  // among the stage's inputs of this pass
  std::int64_t first_turn = -1;    // in the stage's RowLedger; RowLedger::kNoTurn
  std::uint64_t sequence = 0;      // of the pass

  bool has_turns() const noexcept { return first_turn >= 0; }

  // Of the same pass.
  InputPlace behind(std::int64_t slots) const noexcept {
    return {number + slots, first_ordinal + slots, has_turns() ? first_turn + slots : first_turn, sequence};
  }
};

}  // namespace penstock::exec
