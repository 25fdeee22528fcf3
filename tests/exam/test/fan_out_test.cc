// The controller where a call makes many results, and never as many as the one before.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/exam/test/worlds.h"

namespace penstock::exam {
namespace {

constexpr double kResult = 30'000;  // bytes of a result
constexpr double kResults = 16;     // of a call, on average

ProcessSpec shards() {
  StageSpec open = waiting(185), use = computing(1.85);
  open.blocked = Distribution::lognormal(185 * kMs, 0.5);
  open.fan_out = Distribution::geometric(kResults);
  ProcessSpec spec = process_of({open, use});
  for (StageSpec& stage : spec.chains[0].stages) stage.result_bytes = kResult;
  return spec;
}

TEST(FanOut, WindowHasRoomForCallsOfFewResults) {
  double got = 0, wanted = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto process = tuned(shards(), seed);
    SimulatedProcess by_hand(shards(), seed);
    by_hand.run(0).knob("parallelism", 1).set(16);
    by_hand.run(0).knob("window", 1).set(64);
    got += rate_of(*process, 30);
    wanted += rate_of(by_hand, 30);
  }
  EXPECT_GT(got, 0.99 * wanted);
}

// Of 64 calls, which it takes until the first has finished, twice as many results.
TEST(FanOut, HoldsNoMoreThanItMustUntilAllStagesAreKnown) {
  double most = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto process = tuned(shards(), seed);
    process->run_until(3 * kSecond);
    most = std::max(most, static_cast<double>(process->run(0).snapshot().memory_peak));
  }
  EXPECT_LT(most, 1.4 * 2 * 64 * kResults * kResult);
}

}  // namespace
}  // namespace penstock::exam
