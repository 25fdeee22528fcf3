// What our own JPEG decoder does behind the entropy decoding: inverse DCT, upsampling, colour. A benchmark for each
// instruction set, on rows that stay in cache as they do in decoding.
#include <benchmark/benchmark.h>
#include <penstock/image/simd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/micro/cycles.h"
#include "bench/micro/each_simd.h"
#include "ops/image/idct_kernels.h"
#include "ops/image/ycc_kernels.h"

namespace penstock::bench {
namespace {

using namespace image;

// Time for each of `items` and bytes that are written in each iteration.
void count(benchmark::State& state, const char* name, std::size_t items, std::size_t bytes) {
  using benchmark::Counter;
  const auto all = static_cast<double>(state.iterations()) * static_cast<double>(items);
  state.counters[std::string("s_per_") + name] = Counter(all, Counter::kIsRate | Counter::kInvert);
  state.counters[std::string("cycles_per_") + name] = cycles_for_each(all);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.SetLabel(std::string(to_string(simd_of(state))));
}

// ------------------------------------------------------------------------------------------------

constexpr std::size_t kGroups = 16;  // 16 MCUs of 4:2:0 have 16 groups of luma

struct alignas(kGroupAlignment) Coefficients {
  std::int16_t values[kGroups * kGroupValues] = {};
};

// The kernels leave zeros behind, and transform those in the time that they take for other coefficients: nothing
// branches on them.
void transform_groups(benchmark::State& state, std::uint8_t flag) {
  static Coefficients coefficients;
  IdctTable table;
  QuantiserSteps steps;
  steps.fill(7);
  build(table, steps);
  std::vector<std::uint8_t> flags(kGroups), samples(kGroups * 256);
  const IdctKernels& kernels = idct_kernels(simd_of(state));
  for (auto _ : state) {
    std::fill(flags.begin(), flags.end(), flag);
    benchmark::DoNotOptimize(
        kernels.transform(coefficients.values, flags.data(), kGroups, table, samples.data(), kGroups * 32));
    benchmark::ClobberMemory();
  }
  count(state, "block", kGroups * kBlocksInGroup, samples.size());
}

void IdctBlocks(benchmark::State& state) { transform_groups(state, 1); }
BENCHMARK(IdctBlocks)->Apply(EachSimd);

void IdctFirstCoefficientsOnly(benchmark::State& state) { transform_groups(state, 0); }
BENCHMARK(IdctFirstCoefficientsOnly)->Apply(EachSimd);

// ------------------------------------------------------------------------------------------------

constexpr std::size_t kWidth = 500;  // of most of ImageNet's pictures

struct SampleRow {
  std::vector<std::uint8_t> bytes;

  SampleRow() : bytes(2 * kWidth + 2 * kSampleMargin) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 3);
  }
  std::uint8_t* begin() { return bytes.data() + kSampleMargin; }
};

// One row of pixels, or of a plane at their resolution, for each call.
template <class Call> void each_row(benchmark::State& state, std::size_t bytes, const Call& call) {
  SampleRow a, b, c;
  std::vector<std::uint8_t> out(3 * kWidth + kSampleMargin);
  const YccKernels& kernels = ycc_kernels(simd_of(state));
  for (auto _ : state) {
    call(kernels, a.begin(), b.begin(), c.begin(), out.data());
    benchmark::ClobberMemory();
  }
  count(state, "pixel", kWidth, bytes);
}

void YccToRgb(benchmark::State& state) {
  each_row(state, 3 * kWidth,
           [](const YccKernels& k, auto* y, auto* cb, auto* cr, auto* out) { k.rgb(y, cb, cr, kWidth, out); });
}
BENCHMARK(YccToRgb)->Apply(EachSimd);

void GreyToRgb(benchmark::State& state) {
  each_row(state, 3 * kWidth, [](const YccKernels& k, auto* y, auto*, auto*, auto* out) { k.grey(y, kWidth, out); });
}
BENCHMARK(GreyToRgb)->Apply(EachSimd);

void UpsampleAcross(benchmark::State& state) {
  each_row(state, kWidth,
           [](const YccKernels& k, auto* a, auto*, auto*, auto* out) { k.double_across(a, kWidth / 2, out); });
}
BENCHMARK(UpsampleAcross)->Apply(EachSimd);

void UpsampleDown(benchmark::State& state) {
  each_row(state, kWidth,
           [](const YccKernels& k, auto* a, auto* b, auto*, auto* out) { k.mix_rows(a, b, kWidth, true, out); });
}
BENCHMARK(UpsampleDown)->Apply(EachSimd);

void UpsampleBoth(benchmark::State& state) {
  each_row(state, kWidth,
           [](const YccKernels& k, auto* a, auto* b, auto*, auto* out) { k.double_both(a, b, kWidth / 2, out); });
}
BENCHMARK(UpsampleBoth)->Apply(EachSimd);

}  // namespace
}  // namespace penstock::bench
