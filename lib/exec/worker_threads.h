// WorkerThreads: the threads that run calls of ours, of TBB and of the pool, and the controller's: what they use, and
// how nice they are.
//
// TBB's workers belong to the process: while they work for somebody else in it, that is counted here, too.
#pragma once

#include <cstdint>
#include <memory>

namespace penstock::exec {

// Whether an unprivileged thread may be given its old priority back here (RLIMIT_NICE, CAP_SYS_NICE). Tried once, on a
// thread made for it.
bool niceness_is_reversible();

class WorkerThreads {
 public:
  WorkerThreads();

  enum class Role : std::uint8_t { worker, controller };
  // From now on the calling thread counts as a worker, until it ends. Costs a comparison if it does already.
  void join(Role role);
  std::int64_t cpu_ns() const;           // since they joined, those that have ended included. ~0.5 us for each thread
  std::int64_t cpu_ns(Role role) const;  // the same, of one role
  std::int64_t count() const;

  // Of workers, those to come included: 0 as the process, up to 19 less urgent. Does nothing where it could not be
  // taken back.
  void set_niceness(int niceness);

  struct Members;

 private:
  const std::shared_ptr<Members> members_;  // held by each member, too: it may outlive this object
};

}  // namespace penstock::exec
