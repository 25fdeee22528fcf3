// Reading a whole dataset, checked and measured.
#pragma once

#include <penstock/penstock.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "bench/meter.h"

namespace penstock::bench {

// Takes every element of a fresh run, from its start to its end, and checks how many came: a
// benchmark that loses elements is fast for nothing.
template <class T> Cost drain(const Dataset<T>& dataset, std::int64_t expected, const RunOptions& options = {}) {
  const Meter meter;
  std::int64_t count = 0;
  {
    auto run = dataset.start(options);
    while (run.next()) ++count;
  }
  const Cost cost = meter.stop();
  if (count != expected) {
    throw std::runtime_error("expected " + std::to_string(expected) + " elements, got " + std::to_string(count));
  }
  return cost;
}

// The cheapest of some rounds by CPU time: what the work costs when nothing disturbs it.
template <class T> Cost cheapest_drain(const Dataset<T>& dataset, std::int64_t expected, int rounds) {
  Cost best;
  for (int round = 0; round < rounds; ++round) keep_cheaper(best, drain(dataset, expected));
  return best;
}

inline double ns_per(double seconds, std::int64_t elements) { return 1e9 * seconds / static_cast<double>(elements); }

}  // namespace penstock::bench
