#include "autotune/evidence.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace penstock::autotune {
namespace {

constexpr double kOften = 0.3;  // of the looks

// Stages that finished nothing in the window: a call there may last longer than that, or the stage is far ahead.
Rates rates_of(const Window& window) {
  Rates rates = rates_between(window.before, window.now);
  const Rates whole = rates_between(Snapshot(), window.now);
  for (std::size_t i = 0; i < rates.stages.size(); ++i) {
    StageRates& stage = rates.stages[i];
    const StageRates& ever = whole.stages[i];
    if (stage.completed <= 0) stage.slot_s = ever.slot_s;
    if (std::isnan(stage.cpu_s)) {
      const double part = stage.slot_s / ever.slot_s;  // of its own; 1 where nothing is known but the whole
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
  evidence.foreign = foreign_cpu(facts.window, evidence.rates);
  charge(evidence.rates, evidence.foreign);
  evidence.bounds = bounds_of(evidence.rates, with_usual_waits(facts.window), facts.limits);
  evidence.facts = std::move(facts);
  return evidence;
}

const Decision* last_move(const Facts& facts, int stage, std::string_view knob) {
  const auto is_meant = [&](const Decision& each) { return each.stage == stage && each.knob == knob; };
  const auto last = std::find_if(facts.decisions.rbegin(), facts.decisions.rend(), is_meant);
  return last == facts.decisions.rend() ? nullptr : &*last;
}

const Knob* find_knob(const Facts& facts, int stage, std::string_view name) {
  const auto found = std::ranges::find_if(facts.knobs, [&](const Knob& knob) { return knob.stage == stage && knob.name == name; });
  return found == facts.knobs.end() ? nullptr : &*found;
}

}  // namespace penstock::autotune
