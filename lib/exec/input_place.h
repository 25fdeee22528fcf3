// InputPlace: where a group's inputs stand among all that its stage gets.
//
// All of it is of the first slot. A slot that is n behind that one is n behind it in each of these counts, so what
// leaves the group, or is taken from it, has a place of its own. Of groups that wait, numbers are in the order of the
// ring.
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
