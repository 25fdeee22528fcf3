// Cancellation: what a stage lets go of when a stage further down wants no more of a pass. Marks stay: they are how
// others know that it is over.
//
// Thread safety: with the stage's lock held.
#pragma once

#include <cstdint>

#include "lib/exec/folded.h"
#include "lib/exec/inbox.h"
#include "lib/exec/ring.h"
#include "lib/exec/row_ledger.h"

namespace penstock::exec {

class Cancellation {
 public:
  // `ledger`: none where nobody plans where results will lie.
  Cancellation(const StageTraits& traits, Inbox& inbox, Ring& ring, Folded& folded, RowLedger* ledger)
      : traits_(traits), inbox_(inbox), ring_(ring), folded_(folded), ledger_(ledger) {}

  // Groups of the unwanted passes, up to the mark of the last one; if that is still to come, everything until it does;
  // if it has left, nothing.
  void cancel(std::size_t depth, std::uint64_t first, std::uint64_t last);
  // Only the group's mark is wanted. One that runs stops as soon as it can.
  void cancel(Group& group);
  // The group has run. Nobody wants the results that have no slots yet.
  void let_go_of_folded(Group& group);

 private:
  void drop_inputs(Group& group);
  void give_turns_back(const Group& group, std::size_t slots_before);

  const StageTraits& traits_;
  Inbox& inbox_;
  Ring& ring_;
  Folded& folded_;
  RowLedger* const ledger_;
};

}  // namespace penstock::exec
