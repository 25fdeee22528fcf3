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

}  // namespace
}  // namespace penstock::scorecard
