// ns of CPU time per element and stage: the slope over chains of equal stages. The constant part
// (source, hand-over to the consumer) stands beside it and is not in it.
#include <array>

#include "bench/engine/cases.h"
#include "bench/engine/drain.h"

namespace penstock::bench {
namespace {

constexpr std::int64_t kSlopeElements = 400'000;
constexpr std::size_t kLengths = 7;  // 0 to 6 maps
using Costs = std::array<Cost, kLengths>;

Dataset<std::int64_t> chain_of(std::size_t maps) {
  auto chain = range(kSlopeElements);
  for (std::size_t i = 0; i < maps; ++i) chain = chain.map([](std::int64_t x) { return x + 1; });
  return chain;
}

struct Line {
  double slope = 0;
  double constant = 0;
};

// Least squares through (number of maps, ns per element).
Line fit(const std::array<double, kLengths>& ns) {
  const double mean_x = (kLengths - 1) / 2.0;
  double mean_y = 0;
  for (double y : ns) mean_y += y / kLengths;
  double above = 0, below = 0;
  for (std::size_t i = 0; i < kLengths; ++i) {
    const double x = static_cast<double>(i) - mean_x;
    above += x * (ns[i] - mean_y);
    below += x * x;
  }
  return {above / below, mean_y - above / below * mean_x};
}

// Lengths take turns within a round, so that a slow minute of the machine hits all of them.
Costs measure(int rounds) {
  Costs best;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t maps = 0; maps < kLengths; ++maps) keep_cheaper(best[maps], drain(chain_of(maps), kSlopeElements));
  }
  return best;
}

Cost sum_of(const Costs& costs) {
  Cost sum;
  for (const Cost& cost : costs) {
    sum.wall_s += cost.wall_s;
    sum.cpu_s += cost.cpu_s;
    sum.foreign_cores += cost.foreign_cores / kLengths;
  }
  return sum;
}

}  // namespace

void run_slope(const CaseSettings& settings, Report& report) {
  const Costs costs = measure(settings.rounds_or(9));
  std::array<double, kLengths> ns{};
  for (std::size_t maps = 0; maps < kLengths; ++maps) {
    ns[maps] = ns_per(costs[maps].cpu_s, kSlopeElements);
    report.add({"slope",
                "maps_" + std::to_string(maps),
                kSlopeElements,
                costs[maps],
                {{"cpu_ns_per_element", ns[maps]}, {"wall_ns_per_element", ns_per(costs[maps].wall_s, kSlopeElements)}},
                {}});
  }
  const Line line = fit(ns);
  report.add({"slope",
              "slope",
              kSlopeElements * std::int64_t{kLengths},
              sum_of(costs),
              {{"ns_per_element_and_stage", line.slope}, {"constant_ns", line.constant}},
              {{"ns_per_element_and_stage", 100}}});
}

}  // namespace penstock::bench
