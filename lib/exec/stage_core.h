// StageCore: what connects the parts of a stage, and its lock.
//
// While its lock is held, a stage calls only what takes no stage's lock, waits for nobody and runs no user's code:
// HostUnderLock, the memory budget, the row ledger, the trace, the clock, and the functions of Body that say so. All
// other calls out of the stage go through outside(), or are marked EXCLUDES: clang checks both (lib/base/mutex.h).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>

#include "lib/base/mutex.h"
#include "lib/core/cache_line.h"
#include "lib/exec/brief_mutex.h"
#include "lib/exec/calls.h"
#include "lib/exec/stage_host.h"
#include "lib/exec/stage_signs.h"
#include "lib/exec/stage_state.h"
#include "lib/exec/stage_traits.h"

namespace penstock::exec {

class Stage;

class StageCore {
 public:
  // `marks`: levels that the end of a pass may have.
  StageCore(Stage& stage, const StagePlan& plan, std::size_t index, std::size_t marks, StageHost& host,
            PassControl& passes);

  const StageTraits traits;
  StageSigns signs;
  const std::shared_ptr<RowLedger> ledger;  // null: in which rows results will lie cannot be foreseen
  std::unique_ptr<Body> body;               // run() without the lock; serial bodies by the one token there is
  alignas(kCacheLine) mutable BriefMutex mutex;
  StageState state GUARDED_BY(mutex);
  // threads that have released the lock and will take it again, without a token: stop() waits for them
  std::int64_t visitors GUARDED_BY(mutex) = 0;

  StageHost& outside() const EXCLUDES(mutex) { return outside_; }
  const Calls& calls() const EXCLUDES(mutex) { return calls_; }

  // Does everything that has become possible after a change of state. Releases the lock meanwhile.
  void pump() noexcept REQUIRES(mutex);
  // Runs `call`. If there is no memory for the engine's own lists, what was under way is half done, and the run ends.
  // `call` requires the lock, by whatever name its owner knows it: that is why clang does not look into this function.
  template <class Call> void or_give_up(Call&& call) noexcept REQUIRES(mutex) NO_THREAD_SAFETY_ANALYSIS;
  void memory_is_free() EXCLUDES(mutex);
  void leave() REQUIRES(mutex);  // by a visitor
  void wait_for_visitors() EXCLUDES(mutex);

 private:
  void perform(Actions actions) EXCLUDES(mutex);
  void give_up() noexcept REQUIRES(mutex);  // because of the current exception

  Stage& stage_;
  StageHost& outside_;  // for outside() alone,
  const Calls calls_;   // for calls()
  std::condition_variable_any left_;
};

template <class Call> void StageCore::or_give_up(Call&& call) noexcept {
  try {
    call();
  } catch (...) {
    give_up();
  }
}

}  // namespace penstock::exec
