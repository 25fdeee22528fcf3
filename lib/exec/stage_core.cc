#include "lib/exec/stage_core.h"

#include <utility>

#include "lib/core/left_out.h"
#include "lib/exec/stage.h"

namespace penstock::exec {

StageCore::StageCore(Stage& stage, const StagePlan& plan, std::size_t index, std::size_t marks, StageHost& host,
                     PassControl& passes)
    : traits(plan, index, host),
      signs(plan.ports.size()),
      ledger(plan.batch.size > 0 ? std::make_shared<RowLedger>(plan.batch) : nullptr),
      body(plan.open(index, host, passes)),
      state(traits, signs, host, body, ledger.get(), marks),
      stage_(stage),
      outside_(host),
      calls_(traits, signs, host, passes, body, ledger.get()) {
  signs.on_pool = plan.form == Form::blocks;
  body->use_signs(signs.ports);
}

void StageCore::pump() noexcept {
  or_give_up([&]() REQUIRES(mutex) {
    while (state.goes_on()) {
      Actions actions = state.next_actions();
      // Matters only to the nearest stage before it that reserves, and only if that one waits for memory.
      actions.became_empty = actions.became_empty && traits.neighbours.is_watched(traits.index);
      if (actions.nothing()) return;
      const bool emits = actions.packet != nullptr;
      {
        const MutexUnlock unlock(mutex);
        perform(std::move(actions));
      }
      if (!emits) return;
      state.output.set_emitting(false);  // who found this thread at it has left
    }
  });
}

// Upstream first, so that the next stage's task, spawned last, is the one this thread runs next: its input is in the
// cache.
void StageCore::perform(Actions actions) {
  Launcher& launcher = outside().facts().launcher;
  const Edges& edges = traits.neighbours.edges();
  for (; actions.launches > 0; --actions.launches) launcher.launch(stage_, actions.on_pool);
  for (const auto& [port, count] : actions.credits) launcher.give_credits(edges.into(traits.index)[port], count);
  if (actions.packet) launcher.send(edges.out_of(traits.index), std::move(actions.packet));
  if (actions.became_empty) outside().nothing_is_left_of(traits.index);
  if (actions.wake_consumer) outside().wake_consumer();
  actions.unwanted.clear();
  for (std::stop_source& stop : actions.stops) stop.request_stop();
  if (ledger && ledger->has_garbage()) ledger->drop_garbage();
  outside().offer_memory();
}

void StageCore::give_up() noexcept {
  state.is_broken = true;
  const MutexUnlock unlock(mutex);
  outside().give_up(as_told(std::current_exception()));
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
