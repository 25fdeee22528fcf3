#include "lib/exec/engine_report.h"

namespace penstock::exec {

EngineReport::EngineReport(EngineState& state)
    : state_(state), surroundings_{.cpu_budget = state.settings.cpu_budget, .open_io_limit = state.settings.open_io} {}

void EngineReport::snapshot(Snapshot& out) const {
  out.time_ns = state_.machine().now() - state_.started_ns;
  out.stages.resize(state_.stages.size());
  for (std::size_t i = 0; i < state_.stages.size(); ++i) {
    state_.stages[i]->snapshot(out.stages[i]);
    out.stages[i].awaited = state_.neighbours.is_awaited(i);
  }
  state_.outlet.snapshot(out.consumer);
  out.memory_limit = state_.memory.limit();
  out.memory_used = state_.memory.used();
  out.memory_peak = state_.memory.peak();
  out.overshoot_bytes = state_.memory.overshot_bytes();
  if (state_.at_gate) out.cpu_slots_in_use = state_.at_gate->in_use();
  MutexLock lock(mutex_);
  out.runs = surroundings_.runs;
  out.cpu_budget = surroundings_.cpu_budget;
  out.open_io_limit = surroundings_.open_io_limit;
  if (surroundings_.clocks_read_at < state_.started_ns) return;
  out.process_cpu_ns = surroundings_.process_cpu_ns;
  out.workers_cpu_ns = surroundings_.workers_cpu_ns;
  out.consumer_cpu_ns = consumer_cpu_ns_;
  out.clocks_ns = surroundings_.clocks_read_at - state_.started_ns;
}

void EngineReport::set_surroundings(const Surroundings& surroundings) {
  const std::int64_t consumer_cpu = state_.outlet.consumer_clock().cpu_ns();
  MutexLock lock(mutex_);
  if (surroundings.clocks_read_at != surroundings_.clocks_read_at) consumer_cpu_ns_ = consumer_cpu;
  surroundings_ = surroundings;
}

std::int64_t EngineReport::dropped() const noexcept {
  std::int64_t sum = 0;
  for (const auto& stage : state_.stages) sum += stage->signs().dropped.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace penstock::exec
