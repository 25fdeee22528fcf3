// What something costs beside something else, in turns: each measurement of it is compared with its two neighbours,
// which are plain, so that a slow minute of the machine hits both.
//
//   const Turns turns = take_turns(15, [&] { return measure(engine); }, [&] { return measure(threads); });
#pragma once

#include <vector>

#include "bench/meter.h"

namespace penstock::bench {

struct Turns {
  Cost best;        // the cheapest of those compared
  Spread overhead;  // percent of CPU time, against the mean of the two neighbours
  Spread noise;     // percent, of those neighbours against one another
};

// Both give a Cost. At least one round.
template <class Compared, class Plain> Turns take_turns(int rounds, const Compared& compared, const Plain& plain) {
  Turns turns;
  std::vector<double> overhead, noise;
  Cost before = plain();
  for (int round = 0; round < rounds; ++round) {
    const Cost cost = compared();
    const Cost after = plain();
    overhead.push_back(100 * (2 * cost.cpu_s / (before.cpu_s + after.cpu_s) - 1));
    noise.push_back(100 * (after.cpu_s / before.cpu_s - 1));
    keep_cheaper(turns.best, cost);
    before = after;
  }
  turns.overhead = spread_of(overhead);
  turns.noise = spread_of(noise);
  return turns;
}

}  // namespace penstock::bench
