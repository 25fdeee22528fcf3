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
#include "lib/exec/trace.h"

namespace penstock::exec {

// With the stage's lock held, or without. Any thread. No function waits, takes a stage's lock, or runs users' code.
class HostUnderLock {
 public:
  virtual ~HostUnderLock() = default;
  virtual MemoryBudget& memory() = 0;
  virtual bool stopped() const noexcept = 0;
  virtual bool is_last(std::size_t stage) const = 0;
  virtual bool acquire_cpu_slot(std::size_t stage) = 0;
  virtual bool cpu_slot_is_wanted(std::size_t stage) = 0;  // by somebody who goes before it
  virtual bool has_free_cpu_slot() const = 0;             // a guess
  virtual std::int64_t memory_claimed_behind(std::size_t stage) const = 0;  // sum of StageSigns::claim
  virtual bool next_is_empty(std::size_t stage) const = 0;  // nothing waits or runs up to the next stage that reserves
};

// And what it asks without its lock only (StageCore::outside), for these may come back into a stage. Any thread.
class StageHost : public HostUnderLock, public BodyHost {
 public:
  virtual Launcher& launcher() = 0;
  virtual void release_cpu_slot() = 0;
  virtual void give_up_cpu_slot() = 0;                    // the token goes on without; at its end: end_without_cpu_slot()
  virtual void end_without_cpu_slot() = 0;
  virtual void offer_memory() = 0;                        // somebody may go on now
  virtual void give_up(std::exception_ptr cause) noexcept = 0;  // nothing new begins, and the consumer gets this
  virtual void wake_consumer() = 0;                       // memory is short, and what is ready may hold it
  virtual std::string origin(std::int64_t ordinal) const = 0;
  virtual std::stop_token stop_token() const = 0;
  virtual std::uint64_t seed() const = 0;
  virtual std::int64_t cpu_slots() const = 0;
  virtual std::int64_t open_io() const = 0;
  virtual const Machine& machine() const = 0;             // always the same
  virtual Trace* trace() const { return nullptr; }        // none: nobody wants one; always the same
  virtual bool keeps_statistics() const { return true; }  // always the same
};

}  // namespace penstock::exec
