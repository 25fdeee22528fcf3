#include "autotune/what_if.h"

#include <algorithm>
#include <cmath>

namespace penstock::autotune {
namespace {

using WhatIf = Explanation::WhatIf;
using Change = Explanation::Change;

// Bounds with the bottleneck as the smallest: it is, whatever the others are estimated at.
class Ladder {
 public:
  Ladder(const Evidence& evidence, const Explanation::Bottleneck& bottleneck) : evidence_(evidence) {
    // what the cores would give is no bound of what they do
    const bool is_of_others = bottleneck.hold == Hold::other_processes;
    if (!is_of_others) take_lowest(bottleneck);
    if (!(lowest_.rate > 0))
      lowest_ = {bottleneck.limit, bottleneck.stage, evidence.rates.delivered, evidence.rates.taken};
    for (const RateBound& bound : evidence.bounds) {
      const bool is_lowest = bound.kind == lowest_.kind && bound.stage == lowest_.stage;
      if (is_of_others || !is_lowest) add(bound);
    }
  }

  const RateBound& lowest() const noexcept { return lowest_; }

  // The smallest bound after the change. Infinite where no other is known.
  RateBound after(const WhatIf& change, bool lifted) const {
    RateBound smallest{.kind = Limit::unknown};
    if (!lifted) smallest = changed(lowest_, change);
    for (const RateBound& bound : others_) {
      const RateBound now = changed(bound, change);
      if (now.rate < smallest.rate) smallest = now;
    }
    return smallest;
  }

 private:
  void take_lowest(const Explanation::Bottleneck& bottleneck) {
    for (const RateBound& bound : evidence_.bounds) {
      const bool is_it = bound.kind == bottleneck.limit && (bound.stage == bottleneck.stage || bound.stage < 0);
      if (is_it && bound.rate >= 0 && std::isfinite(bound.rate)) lowest_ = bound;
    }
  }

  void add(RateBound other) {
    other.rate = std::max(other.rate, lowest_.rate);
    if (other.rate >= 0) others_.push_back(other);
  }

  RateBound changed(RateBound bound, const WhatIf& change) const {
    bound.rate *= factor(bound, change);
    return bound;
  }

  const StageSnapshot& stage(int index) const { return evidence_.now().stages[static_cast<std::size_t>(index)]; }

  double factor(const RateBound& bound, const WhatIf& change) const {
    const bool of_stage = bound.stage >= 0 && bound.stage == change.stage;
    if (change.change == Change::core) return with_a_core(bound);
    if (change.change == Change::twice_as_fast)
      return bound.kind == Limit::cpu ? cpu_of_half(change.stage) : of_half(bound, of_stage);
    return of_stage && bound.kind == Limit::parallel ? with_more_calls(bound, change) : 1;
  }

  static double of_half(const RateBound& bound, bool of_stage) {
    const bool of_calls = bound.kind == Limit::parallel || bound.kind == Limit::serial;
    return of_stage && of_calls ? 2 : 1;
  }

  double with_more_calls(const RateBound& bound, const WhatIf& change) const {
    const double calls = calls_at_once(stage(bound.stage), evidence_.now().cpu_budget);
    if (change.change == Change::call) return (calls + 1) / calls;
    return change.change == Change::calls ? change.amount / calls : 1;
  }

  // More cores are more calls of those that have as many as cores.
  double with_a_core(const RateBound& bound) const {
    const double cores = evidence_.now().cpu_budget;
    const bool on_cores = bound.kind == Limit::parallel && !stage(bound.stage).on_pool &&
                          !stage(bound.stage).completes_later &&
                          static_cast<double>(stage(bound.stage).parallelism) >= cores;
    return bound.kind == Limit::cpu || on_cores ? (cores + 1) / cores : 1;
  }

  double cpu_of_half(int index) const {
    double sum = evidence_.rates.consumer_cpu_s;
    for (const StageRates& each : evidence_.rates.stages) sum += each.visits * each.cpu_s;
    const StageRates& halved = evidence_.rates.stages[static_cast<std::size_t>(index)];
    return sum / (sum - halved.visits * halved.cpu_s / 2);
  }

  const Evidence& evidence_;
  RateBound lowest_{.rate = 0};
  std::vector<RateBound> others_;
};

double gain(double after, double before) {
  return before > 0 && std::isfinite(after) ? std::max(0.0, after / before - 1) : kUnknown;
}

WhatIf with_gains(WhatIf change, const Ladder& ladder) {
  const bool lifted = change.change == Change::lifted;
  const RateBound next = ladder.after(change, lifted);
  change.gain = gain(next.rate, ladder.lowest().rate);
  if (!lifted)
    change.gain_later = gain(ladder.after(change, true).rate, ladder.after({.change = Change::lifted}, true).rate);
  change.next = next.kind;
  change.next_stage = next.stage;
  return change;
}

// As many calls as the next limit lets be of use; 0: that is not known.
double useful_calls(const Evidence& evidence, const Ladder& ladder, int stage) {
  const double next = ladder.after({.change = Change::lifted}, true).rate;
  const double calls = calls_at_once(evidence.now().stages[static_cast<std::size_t>(stage)], evidence.now().cpu_budget);
  const double useful = std::ceil(calls * next / ladder.lowest().rate - 0.001);
  return useful > calls + 1 && useful < 1e6 ? useful : 0;
}

// The one that takes most of the cores.
int dearest_stage(const Rates& rates) {
  int dearest = -1;
  double most = 0;
  for (std::size_t i = 0; i < rates.stages.size(); ++i) {
    const double cpu = rates.stages[i].visits * rates.stages[i].cpu_s;
    if (!(cpu > most)) continue;
    most = cpu;
    dearest = static_cast<int>(i);
  }
  return dearest;
}

std::vector<WhatIf> more_calls(const Evidence& evidence, const Ladder& ladder, int stage) {
  std::vector<WhatIf> changes = {{.change = Change::call, .stage = stage}};
  const double useful = useful_calls(evidence, ladder, stage);
  if (useful > 0) changes.push_back({.change = Change::calls, .stage = stage, .amount = useful});
  return changes;
}

// What there is to try, without its gain.
std::vector<WhatIf> changes_for(const Evidence& evidence, const Explanation::Bottleneck& bottleneck,
                                const Ladder& ladder) {
  std::vector<WhatIf> changes;
  if (bottleneck.limit == Limit::parallel) changes = more_calls(evidence, ladder, bottleneck.stage);
  const bool is_function = bottleneck.limit == Limit::parallel || bottleneck.limit == Limit::serial;
  const bool is_liftable = bottleneck.limit != Limit::cpu || bottleneck.hold == Hold::other_processes;
  if (!is_function && is_liftable) changes.push_back({.change = Change::lifted, .stage = bottleneck.stage});
  const int slow = is_function ? bottleneck.stage : dearest_stage(evidence.rates);
  if (slow >= 0) changes.push_back({.change = Change::twice_as_fast, .stage = slow});
  changes.push_back({.change = Change::core});
  return changes;
}

}  // namespace

std::vector<WhatIf> what_ifs(const Evidence& evidence, const Explanation::Bottleneck& bottleneck) {
  if (bottleneck.limit == Limit::unknown || evidence.facts.serial) return {};
  const Ladder ladder(evidence, bottleneck);
  std::vector<WhatIf> all = changes_for(evidence, bottleneck, ladder);
  for (WhatIf& each : all) each = with_gains(each, ladder);
  return all;
}

}  // namespace penstock::autotune
