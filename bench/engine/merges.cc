// What a merge costs beside its inputs, on elements that cost nothing: CPU time per element beyond one input alone. Of
// branches, of many of them (the start of a thousand stages included), and over positions, where it is no stage of its
// own.
#include <vector>

#include "bench/engine/cases.h"
#include "bench/engine/drain.h"

namespace penstock::bench {
namespace {

constexpr std::int64_t kMany = 2'000'000;

template <class T> double cpu_ns(const Dataset<T>& dataset, int rounds, Cost& cost) {
  cost = cheapest_drain(dataset.batch(128), kMany / 128, rounds);
  return ns_per(cost.cpu_s, kMany);
}

}  // namespace

void run_merges(const CaseSettings& settings, Report& report) {
  const int rounds = settings.rounds_or(5);
  Cost cost;
  const double alone = cpu_ns(range(kMany), rounds, cost);
  const auto add = [&](const char* variant, double bar, double ns) {
    Row row{"merges", variant, kMany, cost, {{"cpu_ns_per_element", ns}, {"beyond_one_input_ns", ns - alone}}, {}};
    row.bars = {{"beyond_one_input_ns", bar}};
    report.add(row);
  };
  const auto all = range(kMany), half = range(kMany / 2);
  const auto all_branch = all.prefetch(), half_branch = half.prefetch();  // with a buffer they are stages
  add("zip_of_two", 150, cpu_ns(zip(all_branch, all_branch), rounds, cost));
  add("concatenate", 150, cpu_ns(half_branch.concatenate(half_branch), rounds, cost));
  add("sample_from", 150, cpu_ns(sample_from(std::vector{half_branch, half_branch}, {.seed = 1}), rounds, cost));
  const std::vector<Dataset<std::int64_t>> thousand(1000, range(kMany / 1000).prefetch());
  add("sample_from_1000", 2000, cpu_ns(sample_from(thousand, {.seed = 1}), rounds, cost));
  add("zip_positions", 20, cpu_ns(zip(all, all), rounds, cost));
  add("concatenate_positions", 20, cpu_ns(half.concatenate(half), rounds, cost));
  add("sample_positions", 20, cpu_ns(sample_from(std::vector{half, half}, {.seed = 1}), rounds, cost));
  add("enumerate_positions", 20, cpu_ns(all.enumerate(), rounds, cost));
}

}  // namespace penstock::bench
