#include "autotune/evidence.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace penstock::autotune {
namespace {

constexpr double kOften = 0.3;  // of the looks
constexpr double kLeastFactor =
    0.5;  // clocks are not read when the window begins: what is further off is of another time

// Stages that finished nothing in the window: a call there may last longer than that, or the stage is far ahead.
Rates rates_of(const Window& window) {
  Rates rates = rates_between(window.before, window.now);
  const Rates whole = rates_between(Snapshot(), window.now);
  for (std::size_t i = 0; i < rates.stages.size(); ++i) {
    StageRates& stage = rates.stages[i];
    const StageRates& ever = whole.stages[i];
    if (stage.completed <= 0) stage.call_s = ever.call_s;
    if (std::isnan(stage.cpu_s)) {
      const double part = stage.call_s / ever.call_s;  // of its own; 1 where nothing is known but the whole
      stage.cpu_s = part * ever.cpu_s;
      stage.delay_s = part * ever.delay_s;
      stage.waiting_s = part * ever.waiting_s;
      stage.samples = ever.samples;
    }
  }
  return rates;
}

void charge(Rates& rates, const ForeignCpu& foreign) {
  if (foreign.stage < 0) return;
  StageRates& stage = rates.stages[static_cast<std::size_t>(foreign.stage)];
  if (stage.rate > 0) stage.cpu_s += foreign.cores / stage.rate;
}

// Of this run alone, or not known.
double cores_of_workers(const Window& window) {
  if (window.now.runs != 1 || (window.before.runs != 1 && window.before.time_ns > 0)) return kUnknown;
  return cores_between_readings(window, [](const Snapshot& at) { return at.workers_cpu_ns; });
}

// Calls use no more than the threads that run them. That samples say more comes of asking: it throws what a call needs
// out of the caches.
void calibrate(Rates& rates, double workers) {
  if (!(workers > 0) || rates.cpu_in_use <= workers) return;
  const double factor = std::max(workers / rates.cpu_in_use, kLeastFactor);
  for (StageRates& stage : rates.stages) stage.cpu_s *= factor;
  rates.cpu_in_use *= factor;
}

// A stage waits for memory if it does at many looks, not if it just does.
Snapshot with_usual_waits(const Window& window) {
  Snapshot now = window.now;
  for (std::size_t i = 0; i < now.stages.size() && i < window.looks.stages.size(); ++i) {
    now.stages[i].waits_for_memory =
        static_cast<double>(window.looks.stages[i].memory) > kOften * static_cast<double>(window.looks.count);
  }
  return now;
}

}  // namespace

Evidence evidence_of(Facts facts) {
  if (facts.window.looks.count == 0) facts.window.looks.add(facts.window.now);
  Evidence evidence;
  evidence.rates = rates_of(facts.window);
  evidence.workers = cores_of_workers(facts.window);
  calibrate(evidence.rates, evidence.workers);
  evidence.foreign = foreign_cpu(facts.window, evidence.rates);
  charge(evidence.rates, evidence.foreign);
  evidence.bounds = bounds_of(evidence.rates, with_usual_waits(facts.window), facts.limits);
  evidence.facts = std::move(facts);
  return evidence;
}

const Decision* last_move(const Facts& facts, int stage, KnobKind knob) {
  const auto is_meant = [&](const Decision& each) { return each.stage == stage && each.knob == to_string(knob); };
  const auto last = std::find_if(facts.decisions.rbegin(), facts.decisions.rend(), is_meant);
  return last == facts.decisions.rend() ? nullptr : &*last;
}

const Knob* find_knob(const Facts& facts, int stage, KnobKind kind) {
  const auto found =
      std::ranges::find_if(facts.knobs, [&](const Knob& knob) { return knob.stage == stage && knob.kind == kind; });
  return found == facts.knobs.end() ? nullptr : &*found;
}

}  // namespace penstock::autotune
