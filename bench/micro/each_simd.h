// A benchmark for each instruction set of this machine: BENCHMARK(Name)->Apply(EachSimd), and simd_of(state) in it.
#pragma once

#include <benchmark/benchmark.h>
#include <penstock/image/simd.h>

#include <cstdint>

namespace penstock::bench {

inline image::Simd simd_of(const benchmark::State& state) { return static_cast<image::Simd>(state.range(0)); }

inline void EachSimd(benchmark::internal::Benchmark* one) {
  for (const image::Simd simd : image::supported_simd()) one->Arg(static_cast<std::int64_t>(simd));
}

}  // namespace penstock::bench
