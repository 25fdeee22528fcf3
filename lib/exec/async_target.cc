#include "lib/exec/async_target.h"

#include "lib/exec/runner.h"

namespace penstock::exec {

void AsyncTarget::finish(Slot::Kind kind, Element value) noexcept {
  MutexLock lock(mutex_);
  if (starting_ && kind == Slot::Kind::failed) {
    failed_early_ = true;
    failure_ = std::move(value);
    return;
  }
  answer(kind, std::move(value));
}

void AsyncTarget::started(std::exception_ptr error) noexcept {
  MutexLock lock(mutex_);
  starting_ = false;
  if (error) return answer(Slot::Kind::failed, Element(std::move(error)));
  if (failed_early_) answer(Slot::Kind::failed, std::move(failure_));
}

void AsyncTarget::count_more(std::int64_t bytes) noexcept {
  MutexLock lock(mutex_);
  if (runner_ != nullptr) runner_->count_more(*group_, bytes);
}

void AsyncTarget::answer(Slot::Kind kind, Element value) noexcept {
  Runner* const runner = std::exchange(runner_, nullptr);
  if (runner == nullptr) return;
  Group& group = *group_;
  is_answering_ = true;
  {
    const MutexUnlock unlock(mutex_);
    runner->complete(group, kind, std::move(value));
  }
  is_answering_ = false;
  answered_.notify_all();
}

void AsyncTarget::detach() noexcept {
  MutexLock lock(mutex_);
  runner_ = nullptr;
  while (is_answering_) answered_.wait(mutex_);
}

}  // namespace penstock::exec
