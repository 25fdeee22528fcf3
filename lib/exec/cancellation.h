// Cancellation: what a stage drops when a stage further down wants no more of a pass. Marks stay, since others know by
// them that the pass is over.
//
// Thread safety: with the stage's lock held.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "lib/exec/folded.h"
#include "lib/exec/inbox.h"
#include "lib/exec/lanes.h"
#include "lib/exec/ring.h"
#include "lib/exec/row_ledger.h"

namespace penstock::exec {

class Cancellation {
 public:
  // `ledger`: null where nobody plans in which rows results will lie.
  Cancellation(const StageTraits& traits, Inbox& inbox, Ring& ring, Lanes& lanes, Folded& folded, RowLedger* ledger)
      : traits_(traits), inbox_(inbox), ring_(ring), lanes_(lanes), folded_(folded), ledger_(ledger) {}

  // Cancels the groups of the passes from `first` on, up to the mark that ends `last`. If that mark has not come yet,
  // also what will come before it. If it has left already, nothing.
  void cancel(std::size_t depth, std::uint64_t first, std::uint64_t last);
  // Of this group only the mark is wanted. If its call is under way, the call stops as soon as it can.
  void cancel(Group& group);
  // The group has run, and nobody wants its results that have no slots yet: drops them.
  void let_go_of_folded(Group& group);
  // Of calls under way, whose sources may wait: to be requested without the lock, for that runs users' code.
  void swap_stops(std::vector<std::stop_source>& stops) noexcept { stops_.swap(stops); }

 private:
  using Groups = Queue<std::unique_ptr<Group>>;

  Groups::const_iterator begin_of(std::uint64_t first) const;
  void drop_inputs(Group& group);
  void give_turns_back(const Group& group, std::size_t slots_before);

  const StageTraits& traits_;
  Inbox& inbox_;
  Ring& ring_;
  Lanes& lanes_;
  Folded& folded_;
  RowLedger* const ledger_;
  std::vector<std::stop_source> stops_;
};

}  // namespace penstock::exec
