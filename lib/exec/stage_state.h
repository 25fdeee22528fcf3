// StageState: the parts of a stage, and what an event in one of them means for the others. It is all that the stage's
// lock guards.
//
//   Inbox  ->  Ring  ->  Output          Tokens: who may call      Reservation: with what memory
//
// The invariants of the parts hold until Stage::let_go_of_slots() or clear(), which no longer count what they drop.
// Nothing here releases the lock or runs users' code: what is to be done without the lock is returned as Actions.
//
// Thread safety: with the stage's lock held.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "lib/exec/cancellation.h"
#include "lib/exec/folded.h"
#include "lib/exec/inbox.h"
#include "lib/exec/meter.h"
#include "lib/exec/output.h"
#include "lib/exec/parts.h"
#include "lib/exec/ports.h"
#include "lib/exec/tokens.h"
#include "lib/exec/reservation.h"
#include "lib/exec/ring.h"
#include "lib/exec/sizes.h"

namespace penstock::exec {

// What has become possible, or necessary, after a change of state.
struct Actions {
  CreditList credits;         // for the stages before
  std::int64_t launches = 0;  // tokens
  bool on_pool = false;
  bool wake_consumer = false;  // it may hold what this stage waits for
  bool became_empty = false;   // since the last time; matters to the rule of progress of a stage before
  PacketRef packet;
  Slots unwanted;                       // to be destroyed, which runs users' code
  std::vector<std::stop_source> stops;  // to be requested, which does so, too
  bool nothing() const {
    return credits.empty() && launches == 0 && packet == nullptr && !wake_consumer && !became_empty &&
           unwanted.empty() && stops.empty();
  }
};

class StageState {
 public:
  // `marks`: levels that the end of a pass may have. `body`, `ledger`: the stage's; null where nobody plans in which
  // rows results will lie.
  StageState(const StageTraits& traits, StageSigns& signs, const StageHost& host, const std::unique_ptr<Body>& body,
             RowLedger* ledger, std::size_t marks);

  bool is_open = false;  // not before all stages are there: it asks for no input
  // An exception has left the lists here half changed, with places from which the element has been moved. Nobody may
  // take anything from them any more, even before the run has been stopped: the lock is free in between.
  bool is_broken = false;
  StageKnobs knobs;
  Meter meter;
  Sizes sizes;
  Inbox inbox;
  Ports ports;  // of a merge, in place of the inbox
  Ring ring;
  Folded folded;
  Tokens tokens;
  FirstCalls first_calls;
  Reservation reservation;
  Output output;
  Parts parts;
  Cancellation cancellation;

  // Whether anything may still be begun, or given to the next stage.
  bool goes_on() const noexcept { return !is_broken && !traits_.host.stopped(); }
  Actions next_actions();
  void account(std::int64_t now) noexcept;

  // The steps of a token. The first one gives null if there is no group that may begin.
  Group* take_group();
  bool may_run(bool on_pool) const;
  void begin(Group& group);
  void put_back(Group& group);
  // Whether a call may go on without memory. The rule of progress: without room, a stage may still start its oldest
  // element, if all is empty up to the next stage that reserves. So each stage holds at most one element more than
  // there is room for, or a 256th of the budget if that is more, and the most downstream one that has any can always go
  // on. Younger ones that were quicker to find room do not matter: their results cannot leave before the oldest one's.
  bool may_force(const Group& group) const;
  // Before a group is forced: it keeps only its first element, or some that are small.
  void shrink(Group& group);

  // The group's results are ready to leave.
  void finish(Group& group, const Sealed& results, std::int64_t kept_bytes);
  // The same for a part of a call, or for a group that was run before and unfolds.
  void release(Group& group, const Sealed& results, std::int64_t kept_bytes);

  // How many tokens there may be beyond the parallelism: folded results need neither memory nor a call, and all calls
  // may be waiting for what the consumer gives back. Not in a stream op: there they leave by its only token.
  std::int64_t beyond_calls() const noexcept { return traits_.plan.serial ? 0 : folded.size(); }
  void describe(StageSnapshot& out) const;

 private:
  CreditList top_up();
  PacketRef let_groups_pass();
  bool admit_group();
  bool produce();
  void place(std::unique_ptr<Group> group);
  std::int64_t claim_tokens();
  bool has_room(std::int64_t tokens_before);
  PacketRef next_packet();
  bool became_empty();
  RingBounds bounds() const { return {knobs.window, folded.bytes() > reservation.plenty()}; }
  void describe_ring(std::int64_t now, StageSnapshot& out) const;

  const StageTraits& traits_;
  StageSigns& signs_;
  const std::unique_ptr<Body>& body_;
  RowLedger* const ledger_;
  mutable std::vector<std::int64_t> begins_;  // of calls under way, when they were last looked at: kept for its storage
};

}  // namespace penstock::exec
