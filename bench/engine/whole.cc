// Short whole pipelines over elements that cost nothing: CPU time per element over all stages.
#include "bench/engine/cases.h"
#include "bench/engine/cheap_functions.h"
#include "bench/engine/drain.h"

namespace penstock::bench {
namespace {

std::vector<std::int64_t> all_plus_one(std::vector<std::int64_t> values) {
  for (std::int64_t& value : values) ++value;
  return values;
}

template <class T>
Row row_of(const char* variant, const Dataset<T>& dataset, std::int64_t elements, std::int64_t delivered, int rounds) {
  const Cost cost = cheapest_drain(dataset, delivered, rounds);
  return {
      "whole",
      variant,
      elements,
      cost,
      {{"cpu_ns_per_element", ns_per(cost.cpu_s, elements)}, {"wall_ns_per_element", ns_per(cost.wall_s, elements)}},
      {}};
}

}  // namespace

void run_whole(const CaseSettings& settings, Report& report) {
  const int rounds = settings.rounds_or(5);
  constexpr std::int64_t many = 10'000'000;
  Row row =
      row_of("range_map_filter_batch128", range(many).map(same).filter(is_there).batch(128), many, many / 128, rounds);
  row.bars = {{"cpu_ns_per_element", 200}};
  report.add(row);

  constexpr std::int64_t peers = 128 * 800;  // as many as the peers' scripts take
  report.add(row_of("range_map_batch128_prefetch_autotune", range(peers).map(plus_one).batch(128).prefetch(AUTOTUNE),
                    peers, 800, rounds));
  report.add(row_of("range_batch128_map_prefetch_autotune",
                    range(peers).batch(128).map(all_plus_one).prefetch(AUTOTUNE), peers, 800, rounds));
}

}  // namespace penstock::bench
