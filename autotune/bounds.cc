#include "autotune/bounds.h"

#include <algorithm>
#include <cmath>

namespace penstock::autotune {
namespace {

constexpr double kLittle = 0.1;  // of the CPU time of an element

// X <= C / (sum of v k + what the consumer itself computes). A call whose clock was never read uses at most the time
// that it lasts: if that is little, it is taken for it; if not, the bound is unknown.
RateBound cpu_bound(const Rates& rates, const Snapshot& now) {
  RateBound bound{.kind = Limit::cpu, .rate = kUnknown};
  double read = 0, not_read = 0, largest = 0;
  for (const StageRates& stage : rates.stages) {
    const double each = stage.visits * stage.cpu_s;
    if (std::isnan(each))
      not_read += stage.visits * stage.call_s;
    else
      read += each;
    if (!(each > largest)) continue;
    largest = each;
    bound.samples = stage.samples;
  }
  if (not_read <= kLittle * read) bound.rate = now.cpu_budget / (read + not_read + rates.consumer_cpu_s);
  return bound;
}

// X <= p / (v (k + w)), with p = 1 where elements are taken in turn.
RateBound stage_bound(const StageRates& rates, const StageSnapshot& stage, double cpu_budget) {
  return {.kind = stage.parallel ? Limit::parallel : Limit::serial,
          .rate = calls_at_once(stage, cpu_budget) / (rates.visits * needed_time(rates)),
          .samples = rates.completed};
}

// What is delivered with this memory; it says nothing where nobody waits for memory.
RateBound memory_bound(const Rates& rates, const Snapshot& now) {
  const bool waits = std::ranges::any_of(now.stages, [](const StageSnapshot& stage) { return stage.waits_for_memory; });
  return {.kind = Limit::memory, .rate = waits ? rates.delivered : kUnbounded, .samples = rates.taken};
}

bool is_before(const RateBound& a, const RateBound& b) {
  if (std::isnan(a.rate) || std::isnan(b.rate)) return !std::isnan(a.rate) && std::isnan(b.rate);
  return a.rate < b.rate;
}

}  // namespace

// Datasets beyond the cycle are read until they have what may be ready: with a single place that may be all of most.
double calls_at_once(const StageSnapshot& stage, double cpu_budget) {
  if (!stage.parallel) return 1;
  const bool is_bounded = stage.cycle_length > 1;
  const std::int64_t most = is_bounded ? std::min(stage.parallelism, stage.cycle_length) : stage.parallelism;
  const double allowed = static_cast<double>(std::max<std::int64_t>(most, 1));
  return stage.on_pool || stage.completes_later ? allowed : std::min(allowed, std::max(cpu_budget, 1.0));
}

double needed_time(const StageRates& rates) {
  const double needed = rates.cpu_s + rates.waiting_s;
  return needed >= 0 ? std::min(needed, rates.call_s) : rates.call_s;
}

std::vector<RateBound> bounds_of(const Rates& rates, const Snapshot& now, const std::vector<StageLimits>& limits) {
  std::vector<RateBound> bounds = {cpu_bound(rates, now), memory_bound(rates, now)};
  bounds.push_back(
      {.kind = Limit::consumer, .rate = rates.taken > 0 ? rates.demand : kUnknown, .samples = rates.taken});
  for (std::size_t i = 0; i < rates.stages.size(); ++i) {
    const StageRates& stage = rates.stages[i];
    bounds.push_back(stage_bound(stage, now.stages[i], now.cpu_budget));
    bounds.back().stage = static_cast<int>(i);
    if (i >= limits.size() || !std::isfinite(limits[i].ceiling)) continue;
    const double rate = limits[i].ceiling / stage.visits;
    bounds.push_back({.kind = Limit::ceiling, .stage = static_cast<int>(i), .rate = rate, .samples = stage.completed});
  }
  std::stable_sort(bounds.begin(), bounds.end(), is_before);
  return bounds;
}

}  // namespace penstock::autotune
