// Runtime: what all runs of the process share: CPU slots, threads for blocking calls, the controller's thread.
//
// The one documented process-wide state of the library. It is made by the first run and lives as long as the process: its threads
// and user threads may outlive static destructors, so it is never taken down. It does not survive a fork; forks are noticed by a
// pthread_atfork handler (forks.h), which stays as long as the process, too.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "autotune/policy.h"
#include "lib/exec/compute_pool.h"
#include "lib/exec/elastic_pool.h"
#include "lib/exec/engine.h"
#include "lib/exec/slot_gate.h"
#include "lib/runtime/claims.h"
#include "lib/runtime/heap_trim.h"
#include "lib/runtime/observer.h"
#include "lib/runtime/stand_still.h"
#include "lib/runtime/system_share.h"

namespace penstock::runtime {

class Runtime {
 public:
  // Throws Error(failed_precondition) in a child of the process that made it: its threads do not exist there.
  static Runtime& get();

  // For a run that starts, as things are at this moment. CPU slots: this process's share of the machine, or what the user asks for;
  // more than there is gives a warning, once. CPUs: may be a fraction, where a quota or a share of several ranks is. Memory: bytes.
  std::int64_t slots_for(int asked);
  double cpus_for(int asked);
  std::int64_t default_memory();

  exec::SlotGate& gate() noexcept { return gate_; }
  exec::ComputePool& compute() noexcept { return compute_; }
  exec::ElasticPool& pool() noexcept { return pool_; }
  exec::WorkerThreads& workers() noexcept { return workers_; }

  // Looks after the engine until it is gone: keeps as many slots as were asked for, nudges its consumer, has the policy move its knobs (null:
  // nobody does), and says on stderr which call keeps it from ending. The observer sees what it sees.
  void look_after(const std::shared_ptr<exec::Engine>& engine, int asked_slots, std::unique_ptr<autotune::Policy> policy,
                  std::shared_ptr<Observer> observer);

  // Calls it on a thread of the pool, as soon as there is one: to take an engine down whose run is destroyed inside one of its own
  // functions. It must not throw.
  void dispose(std::function<void()> take_down);

 private:
  using Disposals = std::list<std::function<void()>>;
  struct Tuned {
    std::weak_ptr<exec::Engine> engine;
    int asked_slots = 0;                       // by the user; 0: as many as are offered
    RunClaims claims;
    double cpu_share = 1;                      // what the arbiter leaves it
    double io_share = 1;
    std::unique_ptr<autotune::Policy> policy;  // null: knobs stay where they are
    std::vector<Knob> knobs;
    Snapshot snapshot;                         // of the last tick
    std::shared_ptr<Observer> observer;
    std::optional<std::int64_t> starved_since; // by now_ns(); none: it is not
    bool is_calm = false;                      // it need not be looked at so often
    StandStill stand_still;
    std::int64_t relief_patience = 100'000'000;  // ns in which nothing moves, before it is lent a thread
    std::int64_t stands_since = -1;            // when nothing moved any more; looked at soon after, with so much CPU time used by all workers:
    std::int64_t looked_at = 0, cpu_then = 0;  // ns
    bool warned = false;                       // that its memory is too small for its ops
    std::chrono::steady_clock::duration patience = std::chrono::seconds(3);  // with calls that keep a stopped run from ending
    std::chrono::steady_clock::time_point patient_until = {};                // the epoch: it has not been stopped
  };

  Runtime();
  std::int64_t offered_slots(std::int64_t oldest);
  void serve();
  void take_down(Disposals& disposed);
  // What follows: on the controller's thread only.
  bool tick(Tuned& tuned);
  void relieve(Tuned& tuned, exec::Engine& engine);
  bool uses_cpu(Tuned& tuned, std::int64_t stands_since) const;
  void warn(Tuned& tuned, const Snapshot& snapshot);
  static void warn_of_stand_still(Tuned& tuned, const exec::Engine& engine);
  static void warn_of_stuck_calls(Tuned& tuned, const exec::Engine& engine);
  bool read_clocks();
  void divide(std::vector<Tuned>& tuned);
  void set_gate(const std::vector<Tuned>& tuned);
  void set_niceness(const std::vector<Tuned>& tuned);
  bool take_news(std::vector<Tuned>& tuned, Disposals& gone);
  void look_at(std::vector<Tuned>& tuned, bool is_new);
  void trim_heap(const std::vector<Tuned>& tuned);

  const std::uint32_t process_;
  const int ranks_;                  // processes that share this machine
  SystemShare share_;
  exec::WorkerThreads workers_;
  exec::SlotGate gate_;
  exec::ComputePool compute_;
  exec::ElasticPool pool_;

  // The controller's thread only:
  exec::Surroundings clocks_;        // the part of it that is the same for all runs
  bool give_way_ = false;            // the workers are niced
  HeapTrim heap_trim_;
  std::set<std::string> unseen_types_;  // that a warning was given of: once in the process

  std::mutex mutex_;                 // all below
  std::condition_variable changed_;
  bool warned_ = false;
  std::vector<Tuned> added_;         // taken over by the controller's thread at its next round
  Disposals disposed_;
  std::thread controller_;
};

}  // namespace penstock::runtime
