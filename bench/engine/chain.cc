// Chains of equal maps and single stages, drained as the peers' scripts drain theirs: through
// batch(1000), whose cost is the row "drain". Slopes between rows give the cost of a stage.
#include "bench/engine/cases.h"
#include "bench/engine/cheap_functions.h"
#include "bench/engine/drain.h"

namespace penstock::bench {
namespace {

constexpr std::int64_t kChainElements = 128 * 800;  // divisible by 100, too
constexpr std::int64_t kDrain = 1000;

std::int64_t batches(std::int64_t elements, std::int64_t size) { return (elements + size - 1) / size; }

Row row_of(const char* name, const std::string& variant, std::int64_t elements, const Cost& cost) {
  return {
      name,
      variant,
      elements,
      cost,
      {{"cpu_ns_per_element", ns_per(cost.cpu_s, elements)}, {"wall_ns_per_element", ns_per(cost.wall_s, elements)}},
      {}};
}

void add_chain(Report& report, const char* label, Tunable parallelism, int length, int rounds) {
  auto chain = range(kChainElements);
  for (int i = 0; i < length; ++i) chain = chain.map(plus_one, parallelism);
  const Cost cost = cheapest_drain(chain.batch(kDrain), batches(kChainElements, kDrain), rounds);
  const std::string variant = length == 0 ? "drain" : std::string(label) + "_" + std::to_string(length);
  report.add(row_of("chain", variant, kChainElements, cost));
}

// One stage, of which all elements come out again.
struct StageBench {
  Report& report;
  int rounds;

  template <class T> void operator()(const char* variant, const Dataset<T>& data) const {
    const Cost cost = cheapest_drain(data.batch(kDrain), batches(kChainElements, kDrain), rounds);
    report.add(row_of("stage", variant, kChainElements, cost));
  }
};

Dataset<std::int64_t> source() { return range(kChainElements); }

// Over a range a shuffle works on positions. Behind a map it holds elements, as tf.data's does; that row has the map's
// cost in it.
void add_orders(const StageBench& bench) {
  bench("shuffle10000", source().shuffle(10'000, {.seed = 1}));
  bench("shuffle100", source().shuffle(100, {.seed = 1}));
  bench("map_shuffle10000", source().map(same).shuffle(10'000, {.seed = 1}));
  bench("map_shuffle100", source().map(same).shuffle(100, {.seed = 1}));
  bench("repeat", source().repeat(1000).take(kChainElements));
  bench("take", source().take(kChainElements));
  bench("map_take", source().map(same).take(kChainElements));
  bench("shard2", range(2 * kChainElements).shard(2, 0));
}

}  // namespace

void run_chain(const CaseSettings& settings, Report& report) {
  const int rounds = settings.rounds_or(5);
  add_chain(report, "", 1, 0, rounds);
  struct Kind {
    const char* label;
    Tunable parallelism;
  };
  for (const Kind& kind : {Kind{"sequential", 1}, Kind{"parallel2", 2}, Kind{"autotune", AUTOTUNE}}) {
    for (int length : {1, 4, 8, 16}) add_chain(report, kind.label, kind.parallelism, length, rounds);
  }
}

void run_stage(const CaseSettings& settings, Report& report) {
  const StageBench bench{report, settings.rounds_or(5)};
  bench("drain", source());
  bench("map_identity", source().map(same));
  bench("map_plus_one", source().map(plus_one));
  bench("map_identity_parallel2", source().map(same, 2));
  bench("map_blocking", source().map(same, 2, {.blocks = true}));
  bench("filter_true", source().filter(is_there));
  bench("batch128_unbatch", source().batch(128).unbatch());
  bench("prefetch8", source().map(same).prefetch(8));
  bench("prefetch_autotune", source().map(same).prefetch(AUTOTUNE));
  add_orders(bench);
  bench("flat_map_100", range(kChainElements / 100).flat_map([](std::int64_t) { return range(100); }));
  std::vector<std::int64_t> values(static_cast<std::size_t>(kChainElements), 7);
  bench("tensor_slices", from_vector(std::move(values)));
  report.add(row_of("stage", "batch128_alone", kChainElements,
                    cheapest_drain(source().batch(128), batches(kChainElements, 128), bench.rounds)));
}

}  // namespace penstock::bench
