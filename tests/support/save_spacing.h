// How often a random run gives save points.
#pragma once

#include "lib/exec/save_point.h"
#include "tests/support/random.h"

namespace penstock::test {

// As in runs of users, or by the number of elements alone: one before each, or some apart.
template <class Random> exec::SaveSpacing drawn_save_spacing(Random& random) {
  if (random.one_in(3)) return {};
  return {.slots = random.one_in(2) ? 1 : random.between(2, 6), .shortest_ns = 0, .longest_ns = 1'000'000'000'000};
}

}  // namespace penstock::test
