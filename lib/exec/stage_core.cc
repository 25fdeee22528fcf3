#include "lib/exec/stage_core.h"

#include <utility>

#include "lib/exec/stage.h"

namespace penstock::exec {

StageCore::StageCore(Stage& stage, const StagePlan& plan, std::size_t index, std::size_t marks, StageHost& host, PassControl& passes)
    : traits(plan, index, host),
      ledger(plan.batch.size > 0 ? std::make_shared<SlotLedger>(plan.batch) : nullptr),
      body(plan.open(index, host, passes)),
      state(traits, signs, host, body, ledger.get(), marks),
      stage_(stage),
      outside_(host),
      calls_(traits, signs, host, passes, body, ledger.get()) {
  signs.on_pool = plan.form == Form::blocks;
}

void StageCore::connect(StageCore& before) noexcept {
  before_ = &before;
  signs.before = &before.signs;
}

StageCore& StageCore::nearest_that_reserves() noexcept {
  StageCore* core = this;
  while (core->traits.plan.passes_memory_on && core->before_ != nullptr) core = core->before_;
  return *core;
}

void StageCore::pump() noexcept {
  or_give_up([&]() REQUIRES(mutex) {
    while (!traits.host.stopped()) {
      Actions actions = state.next_actions();
      // Matters to the nearest stage before that reserves, if it waits for that.
      actions.became_empty = actions.became_empty && before_ != nullptr && before_->nearest_that_reserves().signs.waits_for_memory.load();
      if (actions.nothing()) return;
      const bool emits = actions.packet != nullptr;
      {
        const MutexUnlock unlock(mutex);
        perform(std::move(actions));
      }
      if (emits) state.output.set_emitting(false);
    }
  });
}

// Upstream first, so that the next stage's task, spawned last, is the one this thread runs next: its input is in the cache.
void StageCore::perform(Actions actions) {
  for (; actions.launches > 0; --actions.launches) outside().launcher().launch(stage_, actions.on_pool);
  if (actions.credits > 0) outside().launcher().give_credits(before_->stage_, actions.credits);
  if (actions.packet) outside().launcher().send(stage_, std::move(actions.packet));
  if (actions.became_empty) before_->nearest_that_reserves().memory_is_free();
  if (actions.wake_consumer) outside().wake_consumer();
  actions.unwanted.clear();
  if (ledger && ledger->has_garbage()) ledger->drop_garbage();
  outside().offer_memory();
}

void StageCore::give_up() noexcept {
  const MutexUnlock unlock(mutex);
  outside().give_up(std::current_exception());
}

void StageCore::memory_is_free() {
  MutexLock lock(mutex);
  if (!state.reservation.is_refused()) return;
  state.reservation.look_again();
  pump();
}

void StageCore::leave() {
  if (--visitors == 0) left_.notify_all();
}

void StageCore::wait_for_visitors() {
  MutexLock lock(mutex);
  while (visitors != 0) left_.wait(mutex);
}

}  // namespace penstock::exec
