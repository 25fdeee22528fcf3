#include "lib/exec/engine_host.h"

#include <chrono>
#include <utility>

namespace penstock::exec {

EngineHost::EngineHost(EngineState& state)
    : state_(state),
      facts_{.launcher = *state.launcher,
             .memory = state.memory,
             .neighbours = state.neighbours,
             .machine = state.machine(),
             .trace = state.settings.trace.get(),
             .keeps_statistics = state.settings.statistics,
             .seed = state.settings.seed,
             .saves =
                 state.plan->has_save_points() && state.settings.save_spacing ? &*state.settings.save_spacing : nullptr,
             .permits = state.settings.permits,
             .open_io = state.settings.open_io,
             .stop = state.stop.get_token(),
             .nested = state.settings.nested.get(),
             .made_as = state.settings.made_as.get()} {}

// ------------------------------------------------------------------------------------------------ CPU permits

// What feeds a stage that waits goes first, for its calls are to be under way while the others compute; then what is
// further down: elements leave there, memory becomes free, and the caches still hold what has just been made.
std::size_t EngineHost::cpu_rank(std::size_t stage) const {
  const std::size_t stages = state_.stages.size(), near = stages - 1 - state_.plan->edges.distance(stage);
  return state_.neighbours.feeds_one_that_waits(stage) ? stages + near : near;
}

bool EngineHost::acquire_permit(std::size_t stage) {
  return !state_.at_gate || state_.settings.gate->acquire(state_.at_gate, stage, cpu_rank(stage));
}

bool EngineHost::permit_is_wanted(std::size_t stage) {
  return state_.at_gate && state_.settings.gate->is_wanted_before(state_.at_gate, cpu_rank(stage));
}

bool EngineHost::has_free_permit() const {
  return !state_.at_gate || state_.settings.gate->has_free_permit(*state_.at_gate);
}

// In this order: a token that comes of the permit is to find this thread, which has nothing else to do.
void EngineHost::release_permit() {
  state_.launcher->token_ends();
  if (state_.at_gate) state_.settings.gate->release(state_.at_gate);
}

void EngineHost::give_up_permit() {
  state_.launcher->token_goes_without_permit();
  if (state_.at_gate) state_.settings.gate->release(state_.at_gate);
}

// A thread that was offered a permit, or moved a knob, may have looked at a stage before all was stopped, and started a
// token of it after all others had ended. It held the engine meanwhile: so now no more of them can come. Those that
// have no thread yet may be for this one, which was to look for work next: it finds them here.
void EngineHost::release_lost_permits() {
  do {
    while (state_.launcher->run_waiting_here()) {
    }
  } while (!state_.launcher->wait_for(std::chrono::seconds(1)));
  while (state_.at_gate && state_.at_gate->in_use() > 0) state_.settings.gate->release(state_.at_gate);
}

// ------------------------------------------------------------------------------------------------ memory, and the end

void EngineHost::nothing_is_left_of(std::size_t stage) {
  state_.neighbours.for_each_nearest_before(stage,
                                            [this](std::size_t nearest) { state_.stages[nearest]->memory_is_free(); });
}

// By any thread, which may be inside anything: so without waiting, and the rest is done by whoever shuts down.
void EngineHost::give_up(std::exception_ptr cause) noexcept {
  state_.outlet.fail(std::move(cause));
  state_.raise_stop();
  state_.launcher->stop_waiting();
}

// ------------------------------------------------------------------------------------------------ passes

void EngineHost::cut_pass(std::size_t stage, const PassCut& cut) {
  const std::size_t last = state_.plan->edges.into(stage).front().from;
  state_.cuts.note(last, cut.sequence);
  state_.passes_of(stage).end(cut.depth, cut.sequence);
  state_.let_go_of_pass(last, cut);
}

void EngineHost::cut_input(std::size_t stage, std::size_t port, const PassCut& cut) {
  const std::size_t last = state_.plan->edges.into(stage)[port].from;
  state_.cuts.note(last, cut.sequence);
  state_.passes_of(last).end(cut.depth, cut.sequence);
  state_.let_go_of_pass(last, cut);
}

void EngineHost::input_has_ended(std::size_t stage, std::size_t port, std::uint64_t sequence) {
  state_.passes_of(state_.plan->edges.into(stage)[port].from).forget_until(sequence);
}

void EngineHost::begin_inputs(std::size_t stage) { state_.begin_epoch(stage, 0, 1); }

std::optional<Slot> EngineHost::close_pass(std::size_t stage, const PassCut& cut) {
  const std::size_t last = state_.plan->edges.into(stage).front().from;
  state_.cuts.note(last, cut.sequence);
  std::optional<Slot> mark = state_.passes_of(stage).close_early(cut.depth, cut.sequence);
  state_.let_go_of_pass(last, cut);
  return mark;
}

bool EngineHost::is_unwanted(std::size_t stage, const PassCut& cut) const {
  return state_.passes_of(stage).is_unwanted(cut.depth, cut.sequence);
}

void EngineHost::count_dropped(std::size_t stage, std::int64_t errors) {
  state_.stages[stage]->signs().dropped.fetch_add(errors, std::memory_order_relaxed);
}

}  // namespace penstock::exec
