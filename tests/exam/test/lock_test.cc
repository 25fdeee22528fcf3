// The controller in front of a lock that gives less the more calls crowd before it.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/exam/test/worlds.h"

namespace penstock::exam {
namespace {

// Three calls are best; two give nearly as much.
ProcessSpec crowded_lock() {
  StageSpec stage = waiting(4);
  stage.blocked = Distribution::lognormal(4 * kMs, 0.3);
  stage.cpu = Distribution::constant(0.2 * kMs);
  stage.device = 0;
  ProcessSpec spec = process_of({stage});
  spec.chains[0].devices = {{.rates = {190, 347, 350, 305, 230, 160, 130, 105}}};
  return spec;
}

TEST(Lock, ItsCeilingIsNotBelowWhatItGives) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto process = tuned(crowded_lock(), seed);
    const double rate = rate_of(*process, 30);
    const double ceiling = process->run(0).policy()->limits().at(1).ceiling;
    EXPECT_GT(ceiling, 0.9 * rate) << seed;
    EXPECT_FALSE(std::isfinite(ceiling) && ceiling > 1.1 * 350) << seed << ": more than the lock gives to anybody";
  }
}

// Two calls are about enough: asked again and again, a noisy comparison would say so in the end.
TEST(Lock, IsNotTrimmedUntilLuckHasIt) {
  int at_best = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto process = tuned(crowded_lock(), seed);
    process->run_until(60 * kSecond);
    at_best += process->run(0).knob("parallelism", 1).get() == 3;
  }
  EXPECT_GE(at_best, 8);
}

}  // namespace
}  // namespace penstock::exam
