// What the controller may turn while the engine runs. A knob may outlive its engine: then it moves nothing.
#include <algorithm>
#include <limits>
#include <utility>

#include "lib/exec/engine.h"

namespace penstock::exec {
namespace {

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

}  // namespace

Knob Engine::stage_knob(std::size_t stage, KnobKind kind, std::int64_t low, std::int64_t high) {
  Knob knob = knob_of(kind);
  knob.stage = static_cast<int>(stage);
  knob.low = low;
  knob.high = high;
  std::weak_ptr<Engine> weak = weak_from_this();
  knob.get = [weak, stage, kind]() -> std::int64_t {
    auto engine = weak.lock();
    return engine ? engine->stages_[stage]->get(kind) : 0;
  };
  knob.set = [weak, stage, kind, low, high](std::int64_t to) {
    if (auto engine = weak.lock()) engine->stages_[stage]->set(kind, std::clamp(to, low, high));
  };
  return knob;
}

std::vector<Knob> Engine::knobs() {
  std::vector<Knob> knobs;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const StagePlan& plan = stages_[i]->traits().plan;
    if (!plan.serial) {
      const Bounds calls = plan.is_reentrant ? bounds_of(plan.parallelism) : Bounds{1, 1};
      knobs.push_back(stage_knob(i, KnobKind::parallelism, calls.low, calls.high));
      knobs.back().user_fixed = !plan.parallelism.is_automatic();
    }
    if (may_be_placed(plan)) {
      knobs.push_back(stage_knob(i, KnobKind::placement, 0, 1));
      knobs.back().user_fixed = plan.form_is_known;
    }
    knobs.push_back(stage_knob(i, KnobKind::window, 1, kMany));
    knobs.back().user_fixed = plan.keeps_near();
    const Bounds buffer = bounds_of(plan.buffer);
    if (i > 0) knobs.push_back(stage_knob(i, KnobKind::buffer, buffer.low, buffer.high));
    if (i > 0) knobs.back().user_fixed = !plan.buffer.is_automatic();
    knobs.push_back(stage_knob(i, KnobKind::grain_ns, 1, 10'000'000));
  }
  knobs.push_back(prefetch_knob());
  knobs.push_back(memory_knob());
  if (at_gate_) knobs.push_back(cpu_slots_knob());
  if (settings_.has_priority) knobs.push_back(priority_knob());
  return knobs;
}

Knob Engine::prefetch_knob() {
  const auto [low, high] = bounds_of(plan_->prefetch);
  Knob knob = knob_of(KnobKind::prefetch);
  knob.low = low;
  knob.high = high;
  knob.user_fixed = !plan_->prefetch.is_automatic();
  std::weak_ptr<Engine> weak = weak_from_this();
  knob.get = [weak]() -> std::int64_t {
    auto engine = weak.lock();
    return engine ? engine->outlet_.depth() : 0;
  };
  knob.set = [weak, low = low, high = high](std::int64_t to) {
    auto engine = weak.lock();
    if (!engine) return;
    engine->outlet_.set_depth(std::clamp(to, low, high));
    engine->launcher_->give_credits(*engine->stages_.back(), engine->outlet_.top_up());
  };
  return knob;
}

Knob Engine::memory_knob() {
  Knob knob = knob_of(KnobKind::memory);
  knob.high = std::numeric_limits<std::int64_t>::max();
  knob.unit_cost = 1;
  std::weak_ptr<Engine> weak = weak_from_this();
  knob.get = [weak]() -> std::int64_t {
    auto engine = weak.lock();
    return engine ? engine->memory_.limit() : 0;
  };
  knob.set = [weak](std::int64_t to) {
    auto engine = weak.lock();
    if (!engine) return;
    engine->memory_.set_limit(std::max<std::int64_t>(to, 1));
    engine->offer_memory();
  };
  return knob;
}

// Its arena has no threads for more than it began with.
Knob Engine::cpu_slots_knob() {
  Knob knob = knob_of(KnobKind::cpu_slots);
  knob.high = settings_.slots;
  knob.user_fixed = settings_.slots_are_fixed;
  std::weak_ptr<Engine> weak = weak_from_this();
  knob.get = [weak]() -> std::int64_t {
    auto engine = weak.lock();
    return engine ? engine->at_gate_->most() : 0;
  };
  knob.set = [weak, high = settings_.slots](std::int64_t to) {
    auto engine = weak.lock();
    if (engine) engine->settings_.gate->set_most(engine->at_gate_, std::clamp<std::int64_t>(to, 1, high));
  };
  return knob;
}

Knob Engine::priority_knob() {
  Knob knob = knob_of(KnobKind::priority);
  knob.low = 0;
  knob.high = settings_.niceness_is_reversible ? 1 : 0;
  std::weak_ptr<Engine> weak = weak_from_this();
  knob.get = [weak]() -> std::int64_t {
    auto engine = weak.lock();
    return engine && engine->gives_way() ? 1 : 0;
  };
  knob.set = [weak, high = knob.high](std::int64_t to) {
    if (auto engine = weak.lock()) engine->gives_way_.store(to > 0 && high > 0, std::memory_order_relaxed);
  };
  return knob;
}

}  // namespace penstock::exec
