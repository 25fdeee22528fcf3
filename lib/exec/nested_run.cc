#include "lib/exec/nested_run.h"

#include <exception>
#include <utility>

#include <penstock/error.h>

#include "lib/exec/body_scope.h"
#include "lib/exec/engine.h"

namespace penstock::exec {

void NestedRun::set_engine(std::weak_ptr<Engine> engine) {
  MutexLock lock(mutex_);
  engine_ = std::move(engine);
}

bool NestedRun::is_read_in(const BodyScope& scope) noexcept { return BodyScope::inside(scope); }

void NestedRun::leave() noexcept {
  MutexLock lock(mutex_);
  scope_ = nullptr;
  made_in_.store(nullptr, std::memory_order_relaxed);
}

void NestedRun::look() {
  std::shared_ptr<Engine> engine;
  {
    MutexLock lock(mutex_);
    if (scope_ == nullptr || !scope_->is_given_up()) return;
    engine = engine_.lock();
  }
  if (engine == nullptr || engine->stopped()) return;
  engine->give_up(std::make_exception_ptr(Error(ErrorCode::cancelled, "nobody wants the result of the call in which it is read. Return from there")));
}

}  // namespace penstock::exec
