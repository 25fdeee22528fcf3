// The controller where calls begin to last eight times as long, and there are eight times too few of them.
#include <gtest/gtest.h>

#include "tests/scorecard/worlds.h"

namespace penstock::scorecard {
namespace {

constexpr Time kChange = 10 * kSecond;
constexpr double kWanted = 135;  // elements/s

PlantSpec slower_calls() {
  StageSpec reading = waiting(37);
  reading.blocked = Distribution::lognormal(37 * kMs, 0.5);
  reading.blocked_times.steps = {{kChange, 8}};
  PlantSpec spec = plant_of({reading, computing(1.85)});
  spec.chains[0].consumer = {{.idle = kSecond / kWanted}};
  return spec;
}

// Without a call that has finished their ages are all that is known.
TEST(SlowerCalls, AreMoreAtOnceBeforeTheFirstHasFinished) {
  double delivered = 0, calls = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto plant = tuned(slower_calls(), seed);
    plant->run_until(kChange + kSecond / 5);
    calls += static_cast<double>(plant->chain(0).knob("parallelism", 1).get()) / 40;
    plant->run_until(kChange + kSecond / 2);
    const auto before = plant->chain(0).consumer().taken();
    plant->run_until(kChange + 3 * kSecond / 2);
    delivered += static_cast<double>(plant->chain(0).consumer().taken() - before) / 40;
  }
  EXPECT_GT(calls, 0.7 * kWanted * 8 * 0.037) << "a fifth of a second after the change, while calls take 0.3 s";
  EXPECT_GT(delivered, 0.63 * kWanted);
}

// Files from memory, one in some hundreds of which takes far longer, and then all from a store that is 100 times as slow: by the spread of
// what has been seen, and with the one call that was enough, it takes a second to be sure.
PlantSpec slower_files() {
  StageSpec reading = waiting(0.1);
  reading.cpu = Distribution::pareto(0.1 * kMs, 1.5, 30 * kMs);
  reading.blocked_times.steps = {{5 * kSecond, 200}};
  return plant_of({reading, computing(1.8)});
}

TEST(SlowerCalls, AreNoticedByTheFirstFewOfThem) {
  double delivered = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto plant = tuned(slower_files(), seed);
    plant->run_until(6 * kSecond);
    const auto before = plant->chain(0).consumer().taken();
    plant->run_until(7 * kSecond);
    delivered += static_cast<double>(plant->chain(0).consumer().taken() - before) / 20;
  }
  EXPECT_GT(delivered, 900) << "of 1,100 that two cores allow, in the second second after the change";
}

}  // namespace
}  // namespace penstock::scorecard
