// Plan: how what is scarce is divided among the stages: the threads that wait, and the memory.
//
// One rate serves all: the highest at which what every stage needs by Little's law fits. Nothing is gained by giving
// one stage more than that rate needs, because the others could not follow. And where memory is scarce, whoever comes
// first would hold all of it: results that wait for a slow call before them, while the stages that could use them up
// find no room.
#pragma once

#include <cstdint>
#include <vector>

namespace penstock::autotune {

// Calls for a load of so many on average: square-root staffing.
double staffing(double calls);

// `call_s`: by stage that waits, v (k + w0), the time of its calls for one element delivered. The highest rate at which
// they have no more than `threads` calls altogether; each has one at least, even where that is more. Infinite where
// none waits.
double rate_for_threads(const std::vector<double>& call_s, double threads);

// Of one stage at that rate: one at least.
std::int64_t calls_at(double rate, double call_s);

// What the calls of a stage hold.
struct MemoryUse {
  double bytes = 0;   // of one: its inputs and its results
  double call_s = 0;  // as above
  double calls = 0;   // on average
};

// The highest rate, `rate` at most, at which all calls hold no more than so many bytes: on average, and a standard
// deviation of a sum of as many independent calls more.
double rate_for_memory(const std::vector<MemoryUse>& stages, double rate, double bytes);

// By `calls`, on average.
double held_by(const std::vector<MemoryUse>& stages);

}  // namespace penstock::autotune
