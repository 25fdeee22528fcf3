// What a merge costs beside its inputs, on elements that cost nothing: CPU time per element beyond one input alone.
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
  const auto add = [&](const char* variant, double ns) {
    Row row{"merges", variant, kMany, cost, {{"cpu_ns_per_element", ns}, {"beyond_one_input_ns", ns - alone}}, {}};
    row.bars = {{"beyond_one_input_ns", 150}};
    report.add(row);
  };
  const auto half = range(kMany / 2);
  add("zip_of_two", cpu_ns(zip(range(kMany), range(kMany)), rounds, cost));
  add("concatenate", cpu_ns(half.concatenate(half), rounds, cost));
  add("sample_from", cpu_ns(sample_from(std::vector{half, half}, {.seed = 1}), rounds, cost));
}

}  // namespace penstock::bench
