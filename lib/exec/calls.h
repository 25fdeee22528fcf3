// Calls: runs a stage's body on one of its groups, and makes results of what it answers. All of it without the stage's
// lock.
//
// Thread safety: several threads, each with a group of its own; a serial body by one.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "lib/core/call_clock.h"
#include "lib/exec/body.h"
#include "lib/exec/pass_control.h"
#include "lib/exec/seal.h"
#include "lib/exec/row_ledger.h"
#include "lib/exec/stage_signs.h"
#include "lib/exec/stage_traits.h"

namespace penstock::exec {

class AsyncTarget;

// A call that cannot be broken off holds `bytes` more than were reserved for it.
void count_more(Group& group, MemoryBudget& memory, std::int64_t bytes) noexcept;

class Calls {
 public:
  // What one leaves for the books.
  struct Outcome {
    Sealed sealed;
    std::int64_t held_bytes;
    std::int64_t copied_bytes;
    ThreadUse use;
  };
  // What is noted of one while it goes on.
  class Record {
   public:
    explicit Record(const Machine& machine) : clock_(machine) {}

   private:
    friend class Calls;
    CallClock clock_;
    std::vector<Trace::Key> keys_;  // of its elements, if it is traced
    std::int64_t copied_bytes_ = 0;
    std::int64_t elements_ = 0;  // that it has done, in parts or at its end
  };

  // `ledger`: null where nobody plans in which rows results will lie. `body`: read anew when a call begins.
  Calls(const StageTraits& traits, StageSigns& signs, StageHost& host, PassControl& passes,
        const std::unique_ptr<Body>& body, RowLedger* ledger)
      : traits_(traits),
        signs_(signs),
        host_(host),
        passes_(passes),
        body_(body),
        ledger_(ledger),
        trace_(host.facts().trace) {}

  // False: the call was broken off for want of memory; the group is as it was.
  bool run(Group& group, Record& record) const;
  // After run(), by the same thread: nobody else looks at the call any more. Inputs that it gave back: group.rest.
  void close(Group& group, Record& record) const;
  Outcome end(Group& group, Record& record) const;

  // Third form: hands the element over. The group may be gone when it returns.
  ThreadUse start(Group& group, const std::shared_ptr<AsyncTarget>& target) const;

  std::optional<std::int64_t> bytes_hint(const Group& group) const;
  // Makes results of the answers, and tells the ledger how many came before any may leave.
  Sealed settle(Group& group) const;
  // The same for the next of a group's folded results, which get their slots now.
  Sealed seal(Group& group) const;
  // For a call that was started (third form) and has been answered.
  void trace_later_call(const Group& group) const;

 private:
  bool call_body(Group& group) const;
  template <class Call> void with_context(detail::ContextServices& services, Group& group, Call&& call) const;
  void begin_record(Group& group, Record& record) const;
  ThreadUse end_sample(Group& group, Record& record) const;
  void settle_rows(const Group& group) const;
  std::vector<Trace::Key> keys_if_traced(const Slots& slots) const;
  void trace_call(std::int64_t begin, std::int64_t elements, std::vector<Trace::Key> keys) const;

  const StageTraits& traits_;
  StageSigns& signs_;
  StageHost& host_;
  PassControl& passes_;
  const std::unique_ptr<Body>& body_;
  RowLedger* const ledger_;
  Trace* const trace_;
};

}  // namespace penstock::exec
