// The controller where calls begin to last eight times as long, and there are eight times too few of them.
#include <gtest/gtest.h>

#include "autotune/policy.h"
#include "tests/scorecard/worlds.h"

namespace penstock::scorecard {
namespace {

constexpr Time kChange = 10 * kSecond;
constexpr double kWanted = 135;  // elements/s

Plant tuned(std::uint64_t seed) {
  StageSpec reading = waiting(37);
  reading.blocked = Distribution::lognormal(37 * kMs, 0.5);
  reading.blocked_times.steps = {{kChange, 8}};
  PlantSpec spec = plant_of({reading, computing(1.85)});
  spec.chains[0].consumer = {{.idle = kSecond / kWanted}};
  Plant plant{spec, seed};
  plant.chain(0).steer(autotune::make_policy("penstock"));
  return plant;
}

// Without a call that has finished their ages are all that is known.
TEST(SlowerCalls, AreMoreAtOnceBeforeTheFirstHasFinished) {
  double delivered = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Plant plant = tuned(seed);
    plant.run_until(kChange + kSecond / 2);
    const auto before = plant.chain(0).consumer().taken();
    plant.run_until(kChange + 3 * kSecond / 2);
    delivered += static_cast<double>(plant.chain(0).consumer().taken() - before) / 40;
  }
  EXPECT_GT(delivered, 0.63 * kWanted);
}

}  // namespace
}  // namespace penstock::scorecard
