#include "bench/engine/arithmetic.h"

#include <algorithm>
#include <limits>

#include "lib/core/clock.h"

namespace penstock::bench {
namespace {

double measure_steps() {
  constexpr std::int64_t steps = 1'000'000;
  std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();
  volatile std::uint64_t kept = 0;  // the result must seem to be needed
  for (int round = 0; round < 15; ++round) {
    const std::int64_t start = thread_cpu_ns();
    kept = burn(kept, steps);
    best_ns = std::min(best_ns, thread_cpu_ns() - start);
  }
  return 1e3 * static_cast<double>(steps) / static_cast<double>(best_ns);
}

}  // namespace

// A linear congruential step (Knuth's MMIX constants): a multiplication that waits for the last one,
// which is bound by latency and so does not care for what runs beside it.
std::uint64_t burn(std::uint64_t seed, std::int64_t steps) {
  for (std::int64_t i = 0; i < steps; ++i) seed = seed * 6364136223846793005u + 1442695040888963407u;
  return seed;
}

double steps_per_microsecond() {
  static const double steps = measure_steps();
  return steps;
}

}  // namespace penstock::bench
