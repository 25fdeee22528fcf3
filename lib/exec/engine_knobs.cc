// What the controller may turn while the engine runs. A knob may outlive its engine: then it moves nothing.
#include <algorithm>
#include <limits>
#include <utility>

#include "lib/exec/engine.h"

namespace penstock::exec {
namespace {

using StateRef = std::shared_ptr<EngineState>;  // of the whole engine

constexpr std::int64_t kMany = 4096;  // more than any knob but memory needs

struct Bounds {
  std::int64_t low;
  std::int64_t high;
};

// Of a knob. A single number binds the controller alone (Knob::user_fixed): whoever holds the knob may still move it.
Bounds bounds_of(const Tunable& asked) {
  if (!asked.is_automatic()) return {1, kMany};
  const std::int64_t low = std::max<std::int64_t>(asked.low(), 1);
  return {low, std::max(low, std::min(asked.high(), kMany))};
}

// What is known to compute one element after the other has no choice of any use.
bool may_be_placed(const StagePlan& plan) {
  if (plan.form == Form::completes_later) return false;
  return !plan.serial || !plan.form_is_known || plan.form == Form::blocks;
}

Knob knob_of(KnobKind kind) {
  Knob knob;
  knob.kind = kind;
  knob.name = to_string(kind);
  return knob;
}

Knob stage_knob(const StateRef& of, std::size_t stage, KnobKind kind, std::int64_t low, std::int64_t high) {
  Knob knob = knob_of(kind);
  knob.stage = static_cast<int>(stage);
  knob.low = low;
  knob.high = high;
  const std::weak_ptr<EngineState> weak = of;
  knob.get = [weak, stage, kind]() -> std::int64_t {
    auto state = weak.lock();
    return state ? state->stages[stage]->get(kind) : 0;
  };
  knob.set = [weak, stage, kind, low, high](std::int64_t to) {
    if (auto state = weak.lock()) state->stages[stage]->set(kind, std::clamp(to, low, high));
  };
  return knob;
}

Knob prefetch_knob(const StateRef& of) {
  const auto [low, high] = bounds_of(of->plan->prefetch);
  Knob knob = knob_of(KnobKind::prefetch);
  knob.low = low;
  knob.high = high;
  knob.user_fixed = !of->plan->prefetch.is_automatic();
  const std::weak_ptr<EngineState> weak = of;
  knob.get = [weak]() -> std::int64_t {
    auto state = weak.lock();
    return state ? state->outlet.depth() : 0;
  };
  knob.set = [weak, low = low, high = high](std::int64_t to) {
    auto state = weak.lock();
    if (!state) return;
    state->outlet.set_depth(std::clamp(to, low, high));
    state->ask_for_results(state->outlet.top_up());
  };
  return knob;
}

Knob memory_knob(const StateRef& of) {
  Knob knob = knob_of(KnobKind::memory);
  knob.high = std::numeric_limits<std::int64_t>::max();
  knob.unit_cost = 1;
  const std::weak_ptr<EngineState> weak = of;
  knob.get = [weak]() -> std::int64_t {
    auto state = weak.lock();
    return state ? state->memory.limit() : 0;
  };
  knob.set = [weak](std::int64_t to) {
    auto state = weak.lock();
    if (!state) return;
    state->memory.set_limit(std::max<std::int64_t>(to, 1));
    state->offer_memory();
  };
  return knob;
}

// Its arena has no threads for more than it began with.
Knob cpu_slots_knob(const StateRef& of) {
  Knob knob = knob_of(KnobKind::cpu_slots);
  knob.high = of->settings.permits;
  knob.user_fixed = of->settings.permits_are_fixed;
  const std::weak_ptr<EngineState> weak = of;
  knob.get = [weak]() -> std::int64_t {
    auto state = weak.lock();
    return state ? state->at_gate->most() : 0;
  };
  knob.set = [weak, high = of->settings.permits](std::int64_t to) {
    auto state = weak.lock();
    if (state) state->settings.gate->set_most(state->at_gate, std::clamp<std::int64_t>(to, 1, high));
  };
  return knob;
}

Knob priority_knob(const StateRef& of) {
  Knob knob = knob_of(KnobKind::priority);
  knob.low = 0;
  knob.high = of->settings.niceness_is_reversible ? 1 : 0;
  const std::weak_ptr<EngineState> weak = of;
  knob.get = [weak]() -> std::int64_t {
    auto state = weak.lock();
    return state && state->gives_way.load(std::memory_order_relaxed) ? 1 : 0;
  };
  knob.set = [weak, high = knob.high](std::int64_t to) {
    if (auto state = weak.lock()) state->gives_way.store(to > 0 && high > 0, std::memory_order_relaxed);
  };
  return knob;
}

}  // namespace

std::vector<Knob> Engine::knobs() {
  const StateRef of(shared_from_this(), &state_);  // a knob holds what keeps the engine while it is moved
  std::vector<Knob> knobs;
  for (std::size_t i = 0; i < of->stages.size(); ++i) {
    const StagePlan& plan = of->stages[i]->traits().plan;
    if (!plan.serial) {
      const Bounds calls = plan.is_reentrant ? bounds_of(plan.parallelism) : Bounds{1, 1};
      knobs.push_back(stage_knob(of, i, KnobKind::parallelism, calls.low, calls.high));
      knobs.back().user_fixed = !plan.parallelism.is_automatic();
    }
    if (may_be_placed(plan)) {
      knobs.push_back(stage_knob(of, i, KnobKind::placement, 0, 1));
      knobs.back().user_fixed = plan.form_is_known;
    }
    knobs.push_back(stage_knob(of, i, KnobKind::window, 1, kMany));
    knobs.back().user_fixed = plan.keeps_near() || plan.is_nest();  // what is open beyond the cycle may be files
    const Bounds buffer = bounds_of(plan.buffer);
    if (!of->plan->edges.is_source(i)) {
      knobs.push_back(stage_knob(of, i, KnobKind::buffer, buffer.low, buffer.high));
      knobs.back().user_fixed = !plan.buffer.is_automatic();
    }
    knobs.push_back(stage_knob(of, i, KnobKind::grain_ns, 1, 10'000'000));
  }
  knobs.push_back(prefetch_knob(of));
  knobs.push_back(memory_knob(of));
  if (of->at_gate) knobs.push_back(cpu_slots_knob(of));
  if (of->settings.has_priority) knobs.push_back(priority_knob(of));
  return knobs;
}

}  // namespace penstock::exec
