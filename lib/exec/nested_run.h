// NestedRun: a run that is read inside a call of another one. When nobody wants what that call gives any more, nothing of the nested run is wanted
// either, and it is given up: its functions see their stop token set, and whoever waits for its next element gets an error.
//
// The thread of the call cannot see to that: it is inside a function of the nested run, or waits for one. So another one looks now and then
// (runtime::Runtime).
#pragma once

#include <memory>

#include "lib/base/mutex.h"

namespace penstock::exec {

class BodyScope;
class Engine;

class NestedRun {
 public:
  explicit NestedRun(std::weak_ptr<Engine> engine) : engine_(std::move(engine)) {}

  // By the call's thread: it is read in there until that scope ends, or the next one is entered.
  void enter(const BodyScope& scope) EXCLUDES(mutex_);
  void leave(const BodyScope& scope) noexcept EXCLUDES(mutex_);
  bool is_in(const BodyScope& scope) const EXCLUDES(mutex_);
  bool is_gone() const noexcept { return engine_.expired(); }

  // Any thread. Gives the run up if its call is not wanted.
  void look() EXCLUDES(mutex_);

 private:
  const std::weak_ptr<Engine> engine_;
  mutable Mutex mutex_;  // held while a scope is looked at, which does not end meanwhile
  const BodyScope* scope_ GUARDED_BY(mutex_) = nullptr;
};

}  // namespace penstock::exec
