// Work of a known amount: a fixed number of steps of arithmetic, whatever the clock says, so that two
// programs that do it can be compared by their CPU time.
#pragma once

#include <cstdint>

namespace penstock::bench {

// Steps that depend on one another; the result depends on all of them. About 1.3 ns each.
std::uint64_t burn(std::uint64_t seed, std::int64_t steps);

// Steps that take one microsecond of this machine's CPU time: the cheapest of several tries, measured
// once per process. 20 ms.
double steps_per_microsecond();

}  // namespace penstock::bench
