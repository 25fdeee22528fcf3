// Runtime: what all runs of the process share: CPU permits, threads for blocking calls, the controller's thread.
//
// The one documented process-wide state of the library. It is made by the first run and lives as long as the process:
// its threads and user threads may outlive static destructors, so it is never taken down. It does not survive a fork;
// forks are noticed by a pthread_atfork handler (forks.h), which stays as long as the process, too.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "autotune/policy.h"
#include "lib/base/mutex.h"
#include "lib/exec/compute_pool.h"
#include "lib/exec/elastic_pool.h"
#include "lib/exec/engine.h"
#include "lib/exec/nested_run.h"
#include "lib/exec/permit_gate.h"
#include "lib/exec/worker_threads.h"
#include "lib/runtime/attendant.h"
#include "lib/runtime/heap_trim.h"
#include "lib/runtime/system_share.h"

namespace penstock::runtime {

class Runtime final : private AttendantHost {
 public:
  // Throws Error(failed_precondition) in a child of the process that made it: its threads do not exist there.
  static Runtime& get();

  // For a run that starts, as things are at this moment. CPU permits: this process's share of the machine, or what the
  // user asks for; more than there is gives a warning, once. CPUs: may be a fraction, where a quota or a share of
  // several ranks is. Memory: bytes.
  std::int64_t permits_for(int asked) EXCLUDES(mutex_);
  double cpus_for(int asked);
  std::int64_t default_memory();

  exec::PermitGate& gate() noexcept { return gate_; }
  // For an engine with so many CPU permits, on the threads that all runs share.
  std::unique_ptr<exec::Launcher> make_launcher(std::int64_t permits);
  const exec::WorkerThreads& workers() const noexcept { return workers_; }

  // Looks after the engine until it is gone: keeps as many permits as were asked for, nudges its consumer, has the
  // policy move its knobs (null: nobody does), and says on stderr which call keeps it from ending. The observer sees
  // what it sees.
  void look_after(const std::shared_ptr<exec::Engine>& engine, int asked_permits,
                  std::unique_ptr<autotune::Policy> policy, std::shared_ptr<Observer> observer) EXCLUDES(mutex_);

  // Gives it up when nobody wants the call any more in which it is read: within 20 ms.
  void look_after(const std::shared_ptr<exec::NestedRun>& run) EXCLUDES(mutex_);

  // Calls them on threads of the pool, as soon as there are some: to take an engine down whose run is destroyed inside
  // one of its own functions. They must not throw. Lists, so that whoever has made one before needs no memory here.
  using Disposals = std::list<std::function<void()>>;
  void dispose(Disposals take_down) noexcept EXCLUDES(mutex_);

 private:
  Runtime();
  std::int64_t offered_permits(std::int64_t oldest);
  void serve();
  void take_down(Disposals& disposed);
  // What follows: on the controller's thread only.
  bool read_clocks();
  void divide();
  void set_gate();
  void set_niceness();
  bool take_news(Disposals& gone) EXCLUDES(mutex_);
  void look(bool is_new);
  void look_at_nested() EXCLUDES(mutex_);

  // AttendantHost
  std::int64_t now() const override;
  std::int64_t cpu_of_workers() const override { return workers_.cpu_ns(exec::WorkerThreads::Role::worker); }
  void tell(const std::string& text) override;
  void tell_of_type(const std::string& type, const std::string& text) override;

  const std::uint32_t process_;
  const int ranks_;  // processes that share this machine
  SystemShare share_;
  exec::WorkerThreads workers_;
  exec::PermitGate gate_;
  exec::ComputePool compute_;
  exec::ElasticPool pool_;

  // The controller's thread only:
  Attendants attendants_;
  exec::Surroundings clocks_;      // the part of it that is the same for all runs
  std::int64_t last_look_ns_ = 0;  // what it took of a CPU, to look at the runs
  bool give_way_ = false;          // the workers are niced
  HeapTrim heap_trim_;
  std::set<std::string> types_;  // that a warning was given of: once in the process

  Mutex mutex_;
  CondVar changed_;
  bool warned_ GUARDED_BY(mutex_) = false;
  std::vector<std::shared_ptr<exec::NestedRun>> nested_ GUARDED_BY(mutex_);
  std::vector<Attendant> added_ GUARDED_BY(mutex_);  // taken over by the controller's thread at its next round
  Disposals disposed_ GUARDED_BY(mutex_);
  std::thread controller_;
};

}  // namespace penstock::runtime
