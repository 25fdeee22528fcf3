// Cycles for each pixel, block or symbol.
//
//   state.counters["cycles_per_pixel"] = cycles_for_each(pixels);  // `pixels` of all iterations
//
// Counters of the CPU's own cycles are hidden in most virtual machines. These are those of its time stamp counter,
// which runs at the nominal clock: where the CPU runs faster, it needs more cycles than told. 0 where there is no such
// counter.
#pragma once

#include <benchmark/benchmark.h>

namespace penstock::bench {

// Of the time stamp counter in a second; measured once, in 20 ms.
double nominal_cycles_per_second();

inline benchmark::Counter cycles_for_each(double items) {
  using benchmark::Counter;
  const double cycles = nominal_cycles_per_second();
  return cycles > 0 ? Counter(items / cycles, Counter::kIsRate | Counter::kInvert) : Counter(0);
}

}  // namespace penstock::bench
