#include "lib/exec/worker_threads.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <list>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "lib/base/mutex.h"
#include "lib/core/clock.h"
#include "lib/core/scheduler_file.h"
#include "lib/core/thread_cpu_clock.h"

namespace penstock::exec {

struct WorkerThreads::Members {
  struct Member {
    ThreadCpuClock clock;
    std::int64_t cpu_before = 0;  // used before it joined
    id_t number = 0;
    Role role = Role::worker;
  };
  using Place = std::list<Member>::iterator;
  std::int64_t cpu_of(Role role) const REQUIRES(mutex);

  mutable Mutex mutex;
  std::list<Member> threads GUARDED_BY(mutex);                   // alive: who ends leaves first
  std::array<std::int64_t, 2> cpu_of_ended GUARDED_BY(mutex){};  // by role
  int niceness GUARDED_BY(mutex) = 0;
  // from then on a thread may come with the niceness of the worker that made it
  bool was_reniced GUARDED_BY(mutex) = false;
};

namespace {

using Members = WorkerThreads::Members;

// Linux: of one thread, in spite of the name.
bool renice(id_t thread, int niceness) { return ::setpriority(PRIO_PROCESS, thread, niceness) == 0; }

int niceness_of(id_t thread) { return ::getpriority(PRIO_PROCESS, thread); }

// As the process's first thread: what a thread had before may have come from a worker that made it.
void renice_above_process(id_t thread, int more) {
  renice(thread, std::min(niceness_of(static_cast<id_t>(::getpid())) + more, 19));
}

// A thread's own: leaves when the thread ends.
class Membership {
 public:
  Membership() = default;
  ~Membership() { leave(); }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  void enter(const std::shared_ptr<Members>& members, WorkerThreads::Role role) {
    leave();
    Members::Member self;
    self.cpu_before = thread_cpu_ns();
    self.number = static_cast<id_t>(this_thread_number());
    self.role = role;
    MutexLock lock(members->mutex);
    place_ = members->threads.insert(members->threads.end(), self);
    members_ = members;
    process_ = ::getpid();
    if (role == WorkerThreads::Role::worker && members->was_reniced)
      renice_above_process(self.number, members->niceness);
  }

 private:
  void leave() noexcept {
    if (!members_) return;
    // A forked child that exits: a thread that does not exist there may have held the lock, and the list may be half
    // changed. So its copy is left as it is.
    if (::getpid() != process_)
      return static_cast<void>(std::make_unique<std::shared_ptr<Members>>(std::move(members_)).release());
    const std::int64_t used = thread_cpu_ns() - place_->cpu_before;
    {
      MutexLock lock(members_->mutex);
      members_->cpu_of_ended[static_cast<std::size_t>(place_->role)] += used;
      members_->threads.erase(place_);
    }
    members_.reset();
  }

  std::shared_ptr<Members> members_;
  Members::Place place_;
  pid_t process_ = 0;  // in which it entered
};

thread_local const void* joined = nullptr;  // a Membership's Members: an address costs nothing to look at

bool try_to_come_back() {
  const auto self = static_cast<id_t>(this_thread_number());
  const int before = niceness_of(self);
  return before < 19 && renice(self, before + 1) && renice(self, before);
}

}  // namespace

bool niceness_is_reversible() {
  static const bool answer = [] {
    bool came_back = false;
    try {
      std::thread([&came_back] { came_back = try_to_come_back(); }).join();
    } catch (const std::system_error&) {
      return false;  // no thread to be had
    }
    return came_back;
  }();
  return answer;
}

WorkerThreads::WorkerThreads() : members_(std::make_shared<Members>()) {}

void WorkerThreads::join(Role role) {
  if (joined == members_.get()) return;
  static thread_local Membership membership;
  try {
    membership.enter(members_, role);
  } catch (const std::bad_alloc&) {
    return;  // its CPU time is not counted
  }
  joined = members_.get();
}

std::int64_t WorkerThreads::Members::cpu_of(Role role) const {
  std::int64_t sum = cpu_of_ended[static_cast<std::size_t>(role)];
  for (const Member& thread : threads) {
    const auto now = thread.role == role ? thread.clock.cpu_ns() : std::nullopt;
    if (now) sum += *now - thread.cpu_before;
  }
  return sum;
}

std::int64_t WorkerThreads::cpu_ns() const {
  MutexLock lock(members_->mutex);
  return members_->cpu_of(Role::worker) + members_->cpu_of(Role::controller);
}

std::int64_t WorkerThreads::cpu_ns(Role role) const {
  MutexLock lock(members_->mutex);
  return members_->cpu_of(role);
}

std::int64_t WorkerThreads::count() const {
  MutexLock lock(members_->mutex);
  return static_cast<std::int64_t>(members_->threads.size());
}

void WorkerThreads::set_niceness(int niceness) {
  if (!niceness_is_reversible()) return;
  MutexLock lock(members_->mutex);
  if (std::exchange(members_->niceness, niceness) == niceness) return;
  members_->was_reniced = true;
  for (const auto& thread : members_->threads) {
    if (thread.role == Role::worker) renice_above_process(thread.number, niceness);
  }
}

}  // namespace penstock::exec
