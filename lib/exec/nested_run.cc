#include "lib/exec/nested_run.h"

#include <exception>

#include <penstock/error.h>

#include "lib/exec/body_scope.h"
#include "lib/exec/engine.h"

namespace penstock::exec {

void NestedRun::enter(const BodyScope& scope) {
  MutexLock lock(mutex_);
  scope_ = &scope;
}

void NestedRun::leave(const BodyScope& scope) noexcept {
  MutexLock lock(mutex_);
  if (scope_ == &scope) scope_ = nullptr;
}

bool NestedRun::is_in(const BodyScope& scope) const {
  MutexLock lock(mutex_);
  return scope_ == &scope;
}

void NestedRun::look() {
  const auto engine = engine_.lock();
  if (engine == nullptr || engine->stopped()) return;
  {
    MutexLock lock(mutex_);
    if (scope_ == nullptr || !scope_->is_given_up()) return;
  }
  engine->give_up(std::make_exception_ptr(Error(ErrorCode::cancelled, "nobody wants the result of the call in which it is read. Return from there")));
}

}  // namespace penstock::exec
