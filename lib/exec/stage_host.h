// StageHost: what a stage asks of its engine.
#pragma once

#include <cstdint>
#include <exception>
#include <stop_token>
#include <string>

#include "lib/core/machine.h"
#include "lib/exec/body.h"
#include "lib/exec/launcher.h"
#include "lib/exec/memory_budget.h"
#include "lib/exec/neighbours.h"
#include "lib/exec/stage_plan.h"
#include "lib/exec/trace.h"

namespace penstock::exec {

class NestedRun;

// What it may ask with its lock held, or without. Any thread. No function waits, takes a stage's lock, or runs users'
// code.
class HostUnderLock {
 public:
  virtual ~HostUnderLock() = default;
  virtual bool stopped() const noexcept = 0;
  virtual bool acquire_permit(std::size_t stage) = 0;
  virtual bool permit_is_wanted(std::size_t stage) = 0;  // by somebody who goes before it
  virtual bool has_free_permit() const = 0;              // a guess
};

// What surrounds the stages of a run, the same from its beginning to its end.
struct RunFacts {
  Launcher& launcher;
  MemoryBudget& memory;
  const Neighbours& neighbours;
  const Machine& machine;
  Trace* trace = nullptr;  // none: nobody wants one
  bool keeps_statistics = true;
  std::uint64_t seed = 0;
  const SaveSpacing* saves = nullptr;  // none: no save point is of use
  std::int64_t permits = 1;
  std::int64_t open_io = 1;            // blocking calls at once
  std::stop_token stop = {};           // of the run
  const NestedRun* nested = nullptr;   // its calls lie in the call that made the run; none: they do not
  const NestedRun* made_as = nullptr;  // by which a run that was made in a call is known, though it begins anew
};

// What it may ask only without its lock (StageCore::outside), for these may come back into a stage. Any thread.
class StageHost : public HostUnderLock, public BodyHost {
 public:
  virtual const RunFacts& facts() const noexcept = 0;
  virtual void release_permit() = 0;
  virtual void give_up_permit() = 0;  // a token goes on without one; when it ends: end_without_permit()
  virtual void end_without_permit() = 0;
  virtual void offer_memory() = 0;  // somebody may go on now
  // the stage holds nothing more of what it was given: matters to the nearest stage before it that reserves
  virtual void nothing_is_left_of(std::size_t stage) = 0;
  virtual void wake_consumer() = 0;  // memory is short, and what is ready may hold it
  std::uint64_t run_seed() const noexcept final { return facts().seed; }
  const SaveSpacing* saves() const noexcept final { return facts().saves; }
};

}  // namespace penstock::exec
