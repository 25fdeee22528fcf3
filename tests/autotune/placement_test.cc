// Which stages go to the pool of threads.
#include "autotune/placement.h"

#include <gtest/gtest.h>

namespace penstock::autotune {
namespace {

constexpr std::int64_t ms = 1'000'000;

// A stage of which `samples` calls were looked at, `waited` of which gave the CPU up by themselves.
StageSnapshot stage(std::int64_t samples, std::int64_t wall_ns, std::int64_t cpu_ns, std::int64_t waited) {
  StageSnapshot snapshot;
  snapshot.parallel = true;
  snapshot.samples = samples;
  snapshot.sampled_wall_ns = samples * wall_ns;
  snapshot.sampled_cpu_ns = samples * cpu_ns;
  snapshot.samples_that_waited = waited;
  return snapshot;
}

TEST(Placement, MovesAStageWhoseCallsWaitToThePool) { EXPECT_EQ(Placement().wish(stage(2, 10 * ms, ms, 2)), 1); }

TEST(Placement, LeavesAStageThatComputesWhereItIs) { EXPECT_EQ(Placement().wish(stage(20, 10 * ms, 10 * ms, 0)), std::nullopt); }

TEST(Placement, DoesNotTakePreemptionForWaiting) { EXPECT_EQ(Placement().wish(stage(20, 10 * ms, 2 * ms, 0)), std::nullopt); }

TEST(Placement, BringsAStageBackThatComputesAfterAll) {
  StageSnapshot snapshot = stage(8, 10 * ms, 10 * ms, 0);
  snapshot.on_pool = true;
  EXPECT_EQ(Placement().wish(snapshot), 0);
}

TEST(Placement, LeavesShortCallsOnTheCores) { EXPECT_EQ(Placement().wish(stage(20, 20'000, 1'000, 20)), std::nullopt); }

TEST(Placement, LeavesAStageAloneWhoseUserHasSaidWhatItIs) {
  StageSnapshot snapshot = stage(20, 10 * ms, ms, 20);
  snapshot.form_is_known = true;
  EXPECT_EQ(Placement().wish(snapshot), std::nullopt);
}

TEST(Placement, JudgesByWhatHasHappenedSinceItLastDid) {
  Placement placement;
  EXPECT_EQ(placement.wish(stage(8, 10 * ms, 10 * ms, 0)), std::nullopt);
  StageSnapshot later = stage(8, 10 * ms, 10 * ms, 0);
  later.samples += 2;
  later.sampled_wall_ns += 20 * ms;
  later.samples_that_waited += 2;
  EXPECT_EQ(placement.wish(later), 1);
}

}  // namespace
}  // namespace penstock::autotune
