// What lies between the functions: the engine's hop, the shuffle, the copy into a batch.
#include <benchmark/benchmark.h>
#include <penstock/penstock.h>

#include <vector>

#include "lib/core/permutation.h"

namespace penstock::bench {
namespace {

constexpr std::int64_t elements = 200'000;

Dataset<std::int64_t> chain(std::int64_t maps) {
  auto dataset = range(elements);
  for (std::int64_t i = 0; i < maps; ++i) dataset = dataset.map([](std::int64_t x) { return x + 1; });
  return dataset;
}

// An element through n trivial maps: the slope over n is the cost of a hop.
void EngineHops(benchmark::State& state) {
  const auto dataset = chain(state.range(0));
  for (auto _ : state) {
    auto run = dataset.start();
    while (auto value = run.next()) benchmark::DoNotOptimize(*value);
  }
  state.SetItemsProcessed(state.iterations() * elements);
}
BENCHMARK(EngineHops)->DenseRange(0, 6, 2)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

// From the description to the first element.
void FirstElement(benchmark::State& state) {
  for (auto _ : state) {
    auto run = chain(6).shuffle(1000, {.seed = 1}).batch(8).start();
    benchmark::DoNotOptimize(run.next());
  }
}
BENCHMARK(FirstElement)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMicrosecond);

// A position of a keyed permutation.
void PermutationAt(benchmark::State& state) {
  const KeyedPermutation permutation(static_cast<std::uint64_t>(state.range(0)), {7, 0});
  std::uint64_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(permutation(i));
    if (++i == static_cast<std::uint64_t>(state.range(0))) i = 0;
  }
}
BENCHMARK(PermutationAt)->Arg(1000)->Arg(1'281'167);

// A sample into the batch, warm memory: 256 x 256 x 3 floats.
void BatchCopy(benchmark::State& state) {
  const Tensor sample(DType::f32, {256, 256, 3});
  constexpr std::size_t rows = 32;
  for (auto _ : state) {
    Collate<Tensor>::Builder builder(rows);
    for (std::size_t i = 0; i < rows; ++i) builder.add(sample);
    benchmark::DoNotOptimize(builder.finish().data());
  }
  const auto count = state.iterations() * static_cast<std::int64_t>(rows);
  state.SetItemsProcessed(count);
  state.SetBytesProcessed(count * static_cast<std::int64_t>(sample.bytes()));
}
BENCHMARK(BatchCopy)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace penstock::bench
