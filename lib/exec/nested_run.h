// NestedRun: a run that was made in a call of another one, and is read there. When nobody wants what that call gives any more, nothing of the nested
// run is wanted either, and it is given up: its functions see their stop token set, and whoever waits for its next element gets an error.
//
// The thread of the call cannot see to that: it is inside a function of the nested run, or waits for one. So another one looks now and then
// (runtime::Runtime). A run that outlives the call, or is read elsewhere, is somebody else's from then on: nobody gives it up.
#pragma once

#include <atomic>
#include <memory>

#include "lib/base/mutex.h"

namespace penstock::exec {

class BodyScope;
class Engine;

class NestedRun {
 public:
  explicit NestedRun(const BodyScope& made_in) noexcept : scope_(&made_in), made_in_(&made_in) {}

  // When it begins.
  void set_engine(std::weak_ptr<Engine> engine) EXCLUDES(mutex_);
  // By whoever is about to read it, each time.
  void note_reader() noexcept {
    const BodyScope* const scope = made_in_.load(std::memory_order_relaxed);
    if (scope != nullptr && !is_read_in(*scope)) leave();
  }
  // The scope ends, others read the run, or it is no more.
  void leave() noexcept EXCLUDES(mutex_);
  bool is_over() const noexcept { return made_in_.load(std::memory_order_relaxed) == nullptr; }

  // Any thread. Gives the run up if its call is not wanted.
  void look() EXCLUDES(mutex_);

 private:
  static bool is_read_in(const BodyScope& scope) noexcept;

  Mutex mutex_;  // held while the scope is looked at, which does not end meanwhile
  const BodyScope* scope_ GUARDED_BY(mutex_);
  std::weak_ptr<Engine> engine_ GUARDED_BY(mutex_);
  std::atomic<const BodyScope*> made_in_;  // the same as scope_, for who reads: asked for each element
};

}  // namespace penstock::exec
