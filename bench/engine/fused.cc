// Ops that share calls beside the same ops as stages of their own, in turns: CPU time per element over all stages, of
// functions that cost nothing.
#include <penstock/penstock.h>

#include "bench/engine/cases.h"
#include "bench/engine/cheap_functions.h"
#include "bench/engine/drain.h"
#include "bench/engine/turns.h"

namespace penstock::bench {
namespace {

constexpr std::int64_t kThrough = 5'000'000;

}  // namespace

void run_fused(const CaseSettings& settings, Report& report) {
  const MapOptions computes{.blocks = false};
  const auto dataset =
      range(kThrough).map(plus_one, AUTOTUNE, computes).map(same, AUTOTUNE, computes).filter(is_there).batch(128);
  const std::int64_t batches = (kThrough + 127) / 128;
  Cost apart;
  const Turns turns = take_turns(
      settings.rounds_or(9), [&] { return drain(dataset, batches); },
      [&] {
        const Cost cost = drain(dataset, batches, {.rewrites = no_rewrites()});
        keep_cheaper(apart, cost);
        return cost;
      });
  Row row{"fused",
          "range_map_map_filter_batch128",
          kThrough,
          turns.best,
          {{"cpu_ns_per_element", ns_per(turns.best.cpu_s, kThrough)},
           {"apart_cpu_ns_per_element", ns_per(apart.cpu_s, kThrough)},
           {"of_apart_percent", 100 + turns.overhead.median},
           {"of_apart_low", 100 + turns.overhead.low},
           {"of_apart_high", 100 + turns.overhead.high}},
          {}};
  row.bars = {{"cpu_ns_per_element", 80}};
  report.add(row);
}

}  // namespace penstock::bench
