#include "lib/exec/nested_run.h"

#include <exception>
#include <utility>

#include <penstock/error.h>

#include "lib/exec/body_scope.h"
#include "lib/exec/engine.h"

namespace penstock::exec {
namespace {

// If there is no memory for its text, that is the error.
std::exception_ptr unwanted() noexcept {
  try {
    return std::make_exception_ptr(Error(ErrorCode::cancelled, NestedRun::kUnwanted));
  } catch (...) {
    return detail::current_failure();
  }
}

}  // namespace

void NestedRun::set_engine(std::weak_ptr<Engine> engine) {
  MutexLock lock(mutex_);
  engine_ = std::move(engine);
  is_taken_ = false;
}

void NestedRun::belong_to(const BodyScope& call) noexcept {
  MutexLock lock(mutex_);
  if (call_.load(std::memory_order_relaxed) != nullptr) call_.store(&call, std::memory_order_relaxed);
}

void NestedRun::belong_to(std::stop_token run, const NestedRun* nested, std::stop_token pass,
                          std::uint64_t sequence) noexcept {
  MutexLock lock(mutex_);
  if (call_.load(std::memory_order_relaxed) == nullptr) return;
  run_ = std::move(run);
  if (nested != nullptr) keeper_ = nested->weak_from_this();
  pass_ = std::move(pass);
  sequence_ = sequence;
  call_.store(nullptr, std::memory_order_release);
}

void NestedRun::leave() noexcept {
  if (is_over()) return;
  MutexLock lock(mutex_);
  run_ = pass_ = {};
  keeper_.reset();
  call_.store(nullptr, std::memory_order_release);
  is_over_.store(true, std::memory_order_release);
}

void NestedRun::begin_request() noexcept {
  if (is_over()) return;
  if (is_asked_by_owner()) {
    is_asked_.store(true, std::memory_order_release);
  } else {
    leave();
  }
}

bool NestedRun::is_asked_by_owner() noexcept {
  if (const BodyScope* const owner = call()) return BodyScope::inside(owner);
  MutexLock lock(mutex_);
  const BodyScope* const reader = BodyScope::find(run_, keeper_.lock().get());
  if (reader == nullptr) return false;
  const std::stop_token& run = reader->run();
  // Passes that end by themselves share one token, and calls of all stages the number of the pass.
  if (run != run_ || reader->sequence() != sequence_ || reader->stop() != pass_) pass_ = {};
  run_ = run;
  return true;
}

void NestedRun::belong_to_reader() noexcept {
  MutexLock lock(mutex_);
  const BodyScope* const reader = call() == nullptr ? BodyScope::find(run_, keeper_.lock().get()) : nullptr;
  if (reader == nullptr) return;
  pass_ = reader->stop();
  sequence_ = reader->sequence();
}

bool NestedRun::is_unwanted() const {
  if (!is_asked_.load(std::memory_order_relaxed)) return false;
  MutexLock lock(mutex_);
  return is_owner_unwanted();
}

bool NestedRun::is_owner_unwanted() const {
  const BodyScope* const owner = call();
  return owner != nullptr ? owner->is_given_up() : run_.stop_requested() || pass_.stop_requested();
}

std::shared_ptr<Engine> NestedRun::take_unwanted() {
  MutexLock lock(mutex_);
  if (is_taken_ || !is_asked_.load(std::memory_order_acquire) || !is_owner_unwanted()) return nullptr;
  auto engine = engine_.lock();
  is_taken_ = engine != nullptr;
  return engine;
}

void NestedRun::put_back() noexcept {
  MutexLock lock(mutex_);
  is_taken_ = false;
}

void NestedRun::begin_anew() noexcept {
  MutexLock lock(mutex_);
  engine_.reset();
  is_taken_ = false;
  is_cut_.store(false, std::memory_order_relaxed);
}

// The request may have ended meanwhile, and another one begun, or the run begun anew. It is cut from the moment on at
// which that is certain not to be so: whoever reads it must not find an engine that is given up, and no cut.
void NestedRun::give_up(Engine& engine) noexcept {
  std::shared_ptr<Engine> present;  // let go of without the lock: maybe the last to hold it
  {
    MutexLock lock(mutex_);
    present = engine_.lock();
    if (present.get() != &engine) return;
    is_taken_ = is_asked_.load(std::memory_order_acquire) && is_owner_unwanted();
    if (!is_taken_) return;
    note_cut();
  }
  engine.give_up(unwanted());
}

}  // namespace penstock::exec
