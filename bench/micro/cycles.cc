#include "bench/micro/cycles.h"

#include <cstdint>
#include <thread>

#include "lib/core/clock.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace penstock::bench {
namespace {

std::uint64_t time_stamp() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return 0;
#endif
}

double measured() {
  const std::int64_t begin = now_ns();
  const std::uint64_t first = time_stamp();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto cycles = static_cast<double>(time_stamp() - first);
  return 1e9 * cycles / static_cast<double>(now_ns() - begin);
}

}  // namespace

double nominal_cycles_per_second() {
  static const double cycles = measured();
  return cycles;
}

}  // namespace penstock::bench
