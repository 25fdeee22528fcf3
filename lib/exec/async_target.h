// AsyncTarget: where a Completion of a stage's group ends up.
#pragma once

#include <atomic>
#include <exception>
#include <utility>

#include <penstock/op.h>

#include "lib/base/mutex.h"

namespace penstock::exec {

class Runner;
struct Group;

class AsyncTarget final : public Completion::Target {
 public:
  AsyncTarget(Runner& runner, Group& group) : runner_(&runner), group_(&group) {}

  // The answer, from any thread. After detach() it does nothing.
  void finish(Slot::Kind kind, Element value) noexcept EXCLUDES(mutex_) override;

  // The op's start() has ended. `error`: what it threw, if it did: that says more than "dropped without an answer".
  void started(std::exception_ptr error) noexcept EXCLUDES(mutex_);

  // Whether start() still runs, on a thread that the end of the run waits for. Any thread, without the lock.
  bool is_starting() const noexcept { return starting_.load(std::memory_order_relaxed); }

  // The call holds more than was foreseen.
  void count_more(std::int64_t bytes) noexcept EXCLUDES(mutex_);

  // The run has ended. Waits for a finish() that is under way.
  void detach() noexcept EXCLUDES(mutex_);

 private:
  void answer(Slot::Kind kind, Element value) noexcept REQUIRES(mutex_);

  Mutex mutex_;  // not held while the stage takes the answer, which runs users' code: detach() waits for that
  Runner* runner_ GUARDED_BY(mutex_);  // null: answered or detached
  Group* group_ GUARDED_BY(mutex_);
  std::atomic<bool> starting_{true};  // written with the lock held
  bool is_answering_ GUARDED_BY(mutex_) = false;
  CondVar answered_;
  bool failed_early_ GUARDED_BY(mutex_) = false;  // a failure during start() waits for its end
  Element failure_ GUARDED_BY(mutex_);
};

}  // namespace penstock::exec
