// Runtime: what all runs of the process share: CPU slots, threads for blocking calls, the controller's thread.
//
// The one documented process-wide state of the library. It is made by the first run and lives as long as the process: TBB's workers
// and user threads may outlive static destructors, so it is never taken down. It does not survive a fork; forks are noticed by a
// pthread_atfork handler (forks.h), which stays as long as the process, too.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "autotune/policy.h"
#include "lib/core/cpu_budget.h"
#include "lib/exec/elastic_pool.h"
#include "lib/exec/engine.h"
#include "lib/exec/slot_gate.h"
#include "lib/exec/tbb_launcher.h"

namespace penstock::runtime {

class Runtime {
 public:
  // Throws Error(failed_precondition) in a child of the process that made it: TBB has no workers there.
  static Runtime& get();

  // CPU slots for a run: the machine's share of this process, or what the user asks for; more than there is gives a warning, once.
  std::int64_t slots_for(int asked);
  std::int64_t default_memory();

  exec::SlotGate& gate() noexcept { return gate_; }
  exec::ElasticPool& pool() noexcept { return pool_; }

  // Looks after the engine until it is gone: keeps as many slots as were asked for, nudges its consumer, moves its knobs if `tune`,
  // and says on stderr which call keeps it from ending.
  void look_after(const std::shared_ptr<exec::Engine>& engine, int asked_slots, bool tune);

  // Takes an engine down on a thread of the pool: for a run that is destroyed inside one of its own functions.
  void dispose(std::shared_ptr<exec::Engine> engine);

 private:
  using Engines = std::deque<std::shared_ptr<exec::Engine>>;
  struct Tuned {
    std::weak_ptr<exec::Engine> engine;
    std::int64_t asked_slots = 0;              // by the user; 0: as many as are offered
    std::unique_ptr<autotune::Policy> policy;  // null: knobs stay where they are
    std::vector<Knob> knobs;
    bool warned = false;                       // that its memory is too small for its ops
    std::chrono::steady_clock::duration patience = std::chrono::seconds(3);  // with calls that keep a stopped run from ending
    std::chrono::steady_clock::time_point patient_until = {};                // the epoch: it has not been stopped
  };

  Runtime();
  void serve();
  void take_down(Engines& engines);
  bool tick(Tuned& tuned);
  static void warn(Tuned& tuned, const Snapshot& snapshot);
  static void warn_of_stuck_calls(Tuned& tuned, const exec::Engine& engine);
  void read_limits();
  void set_gate(const std::vector<Tuned>& tuned);

  const std::uint32_t process_;
  HostLimits host_;
  exec::SlotGate gate_;
  exec::ElasticPool pool_;
  exec::TbbThreads threads_;

  std::mutex mutex_;                 // all below
  std::condition_variable changed_;
  std::int64_t offered_slots_;       // by affinity and quota
  std::int64_t memory_;              // a quarter of what was free when last looked at
  bool warned_ = false;
  std::vector<Tuned> added_;         // taken over by the controller's thread at its next round
  Engines disposed_;
  std::thread controller_;
};

}  // namespace penstock::runtime
