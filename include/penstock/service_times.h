// What the counts of StageSnapshot::service_times mean.
//
//   const ps::Snapshot now = run.snapshot();
//   for (const ps::StageSnapshot& stage : now.stages)
//     for (std::size_t i = 0; i < stage.service_times.size(); ++i)
//       if (stage.service_times[i] > 0)
//         std::cout << stage.name << ": " << stage.service_times[i] << " of " << ps::service_time_from(i) * 1e-3
//                   << " us or longer\n";
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <penstock/snapshot.h>

#pragma GCC visibility push(default)

namespace penstock {

// Count i is of calls from 1 us x 2^(i/2) on up to the next one's beginning. What is shorter counts in the first, what
// is longer in the last (2 hours).
inline std::size_t service_time_bucket(std::int64_t ns) noexcept {
  const double us = static_cast<double>(std::max<std::int64_t>(ns, 1'000)) / 1'000;
  // the binary exponent: no logarithm
  const std::uint64_t half_octaves = (std::bit_cast<std::uint64_t>(us * us) >> 52) - 1023;
  return std::min<std::size_t>(half_octaves, ServiceTimes{}.size() - 1);
}

// Where count i begins, in ns.
inline double service_time_from(std::size_t bucket) noexcept {
  return 1'000 * std::exp2(static_cast<double>(bucket) / 2);
}

}  // namespace penstock

#pragma GCC visibility pop
