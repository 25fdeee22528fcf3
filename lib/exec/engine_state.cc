#include "lib/exec/engine_state.h"

#include <algorithm>
#include <utility>

namespace penstock::exec {
namespace {

std::int64_t first_depth(const Tunable& prefetch, bool one_at_a_time) {
  return one_at_a_time ? 1 : first_value(prefetch, 2);
}

std::int64_t widest_outlet(const Tunable& prefetch, bool one_at_a_time) {
  return prefetch.is_automatic() && !one_at_a_time ? prefetch.high() : 0;
}

}  // namespace

EngineState::EngineState(std::shared_ptr<const Plan> of, const EngineSettings& with, std::unique_ptr<Launcher> by)
    : plan(std::move(of)),
      settings(with),
      started_ns(machine().now()),
      memory(settings.memory_bytes),
      cuts(plan->stages.size()),
      outlet(first_depth(plan->prefetch, by->one_at_a_time()), widest_outlet(plan->prefetch, by->one_at_a_time()),
             machine()),
      neighbours(plan->edges, outlet.ready()),
      launcher(std::move(by)) {
  for (const Segment& segment : plan->segments) {
    const bool is_of_run = !segment.asked_by;
    passes.push_back(std::make_unique<PassControl>(segment.repeats, is_of_run ? settings.first_epoch : 0,
                                                   is_of_run ? std::max(settings.epochs, 1u) : 0,
                                                   settings.first_sequence));
    if (is_of_run) passes.back()->number_from(settings.pass);
  }
  outlet.set_trace(settings.trace.get());
}

void EngineState::raise_stop() {
  stopped.store(true);
  stop.request_stop();
  for (auto& segment : passes) segment->stop();
}

void EngineState::offer_memory() {
  if (!memory.take_wake_up()) return;
  for (std::size_t i = stages.size(); i-- > 0;) stages[i]->memory_is_free();
}

void EngineState::ask_for_results(std::int64_t credits) {
  launcher->give_credits(plan->edges.out_of(stages.size() - 1), credits);
}

void EngineState::tell_nearest_that_reserves(std::size_t stage) {
  neighbours.for_each_nearest_that_reserves(stage, [this](std::size_t nearest) { stages[nearest]->memory_is_free(); });
}

void EngineState::begin_epoch(std::optional<std::size_t> asked_by, std::uint32_t epoch, std::uint32_t epochs) {
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (plan->segments[i].asked_by == asked_by) passes[i]->begin_epoch(epoch, epochs);
  }
  wake_heads();
}

void EngineState::let_go_of_pass(std::size_t last, const PassCut& cut) {
  std::size_t stage = last;
  for (; !is_head(stage); stage = plan->edges.into(stage).front().from)
    stages[stage]->cancel_pass(cut.depth, cut.sequence);
  stages[stage]->recall();
  stages[stage]->wake();
}

void EngineState::wake_heads() {
  for (const Segment& segment : plan->segments) stages[segment.head]->wake();
}

bool EngineState::look_after_calls() {
  bool found = false;
  for (auto& stage : stages) found = stage->look_after_calls() || found;
  return found;
}

}  // namespace penstock::exec
