// The controller where calls differ much: a few of them tell little.
#include <gtest/gtest.h>

#include "tests/exam/test/worlds.h"

namespace penstock::exam {
namespace {

// 3 ms of waiting, one core that each call uses for 0.3 ms: the core is the limit, and ten to fourteen calls keep it
// busy.
TEST(VariedCalls, DoNotKeepTheCoreIdle) {
  for (const double variation : {0.2, 1.0, 1.5}) {
    StageSpec reading = waiting(3);
    reading.blocked = Distribution::lognormal(3 * kMs, variation);
    reading.cpu = Distribution::constant(0.3 * kMs);
    ProcessSpec spec = process_of({reading});
    spec.host.cores = 1;
    const auto process = tuned(spec);
    EXPECT_GT(rate_of(*process, 20), 0.9 * 1000 / 0.3) << variation;
    EXPECT_LT(process->run(0).knob("parallelism", 1).get(), 32) << variation;
  }
}

// The cores are the limit. What has been admitted waits for one, and a wider window would only let more of it wait.
TEST(VariedCalls, DoNotWidenTheWindowWhereTheyWaitForACore) {
  for (const double variation : {0.0, 0.5}) {
    StageSpec decoding = computing(3);
    decoding.cpu = Distribution::lognormal(3 * kMs, variation);
    ProcessSpec spec = process_of({waiting(1), decoding, computing(1)});
    spec.host.cores = 4;
    const auto process = tuned(spec);
    EXPECT_GT(rate_of(*process, 20), 0.9 * 1000) << variation;
    EXPECT_LT(process->run(0).knob("window", 2).get(), 24) << variation;
  }
}

}  // namespace
}  // namespace penstock::exam
