// Attendant: looks after one run while it goes on. Attendants: after all of a process, among whom they divide it.
//
// A look comes every 10 ms, or 20 where nothing happens, or up to 100 where it takes long, on one thread: the
// runtime's, or one in virtual time (tests/exam).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <penstock/knob.h>
#include <penstock/snapshot.h>

#include "autotune/policy.h"
#include "lib/exec/engine.h"
#include "lib/runtime/claims.h"
#include "lib/runtime/observer.h"
#include "lib/runtime/stand_still.h"

namespace penstock::runtime {

// What they ask of the process.
class AttendantHost {
 public:
  virtual ~AttendantHost() = default;
  virtual std::int64_t now() const = 0;             // as Machine::now() of the engines
  virtual std::int64_t cpu_of_workers() const = 0;  // ns, of all threads that run calls, so far
  virtual void tell(const std::string& text) = 0;   // the user
  virtual void tell_of_type(const std::string& type,
                            const std::string& text) = 0;  // the same, once in the process for each type
};

class Attendant {
 public:
  // `asked_permits`: CPU permits that the user wants; 0: as many as are offered. No policy: its knobs stay where they
  // are. The observer sees what it sees.
  Attendant(AttendantHost& host, const std::shared_ptr<exec::Engine>& engine, int asked_permits,
            std::unique_ptr<autotune::Policy> policy, std::shared_ptr<Observer> observer);

  // Nudges the consumer, lets the policy move the knobs, says which call keeps a stopped run from ending. False: the
  // engine is gone.
  bool look(const exec::Surroundings& clocks);

  // Looks at what the run has used since the last time, and what it would use, of that many CPUs. An ended one claims
  // nothing.
  void claim(double all_cpus);
  Claim cpus() const noexcept { return lives_ ? claims_.cpus() : Claim(); }
  Claim blocking_calls() const noexcept { return lives_ ? claims_.blocking_calls() : Claim(); }
  void grant(double cpus, double blocking_calls) noexcept;

  bool lives() const noexcept { return lives_; }  // as of the last claim()
  std::optional<bool> gives_way()
      const;  // whether its workers are to be less urgent than its consumer; none: it has ended
  int asked_permits() const noexcept { return asked_permits_; }
  bool is_calm() const noexcept { return is_calm_; }               // it need not be looked at so often
  const Snapshot& snapshot() const noexcept { return snapshot_; }  // of the last look

 private:
  void relieve(exec::Engine& engine);
  enum class Cause : std::uint8_t { unknown, computes, waits };
  Cause cause_of_stand(std::int64_t stands_since);
  void warn_of_memory();
  void warn_of_types();
  void warn_of_stand_still(const exec::Engine& engine);
  void warn_of_stuck_calls(const exec::Engine& engine);

  AttendantHost* host_;
  std::weak_ptr<exec::Engine> engine_;
  int asked_permits_;
  RunClaims claims_;
  bool lives_ = true;
  double cpu_share_ = 1, io_share_ = 1;  // what the arbiter leaves it
  std::unique_ptr<autotune::Policy> policy_;
  std::vector<Knob> knobs_;
  Snapshot snapshot_;
  std::shared_ptr<Observer> observer_;
  bool is_calm_ = false;
  std::optional<std::int64_t> starved_since_;  // none: it is not
  StandStill stand_still_;
  std::int64_t relief_patience_;  // ns in which nothing moves, before it is lent a thread
  // when nothing moved any more; looked at soon after, with so much CPU time used by all workers:
  std::int64_t stands_since_ = -1;
  std::int64_t looked_at_ = 0, cpu_then_ = 0;  // ns
  bool warned_ = false;                        // that its memory is too small for its ops
  std::set<std::string> types_;                // that it has been said of that nobody can see into them
  std::int64_t patience_;                      // ns, with calls that keep a stopped run from ending
  std::optional<std::int64_t> patient_until_;  // none: it has not been stopped
};

class Attendants {
 public:
  void add(std::vector<Attendant>& more);       // none are left there; std::bad_alloc: all are
  void look(const exec::Surroundings& clocks);  // at all; those whose engine is gone are let go
  // As much of that as each claims; see arbiter.h. How many live.
  std::int64_t divide(double cpus, double blocking_calls);

  bool empty() const noexcept { return all_.empty(); }
  bool is_calm() const;
  std::int64_t asked_permits() const;  // the most that any wants; 0: none does
  bool all_give_way() const;           // of those that live, and there is one
  std::int64_t memory_used() const;    // by the last looks
  std::int64_t least_memory_limit() const;

 private:
  std::vector<Attendant> all_;
};

}  // namespace penstock::runtime
