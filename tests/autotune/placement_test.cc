// Which stages go to the pool of threads.
#include "autotune/placement.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/autotune/hand_made.h"

namespace penstock::autotune {
namespace {

// A stage of which `samples` calls were looked at; `waited` of them gave the CPU up by themselves, and always had a
// core when they needed one.
StageSnapshot stage(std::int64_t samples, std::int64_t wall_ns, std::int64_t cpu_ns, std::int64_t waited) {
  StageSnapshot snapshot;
  snapshot.parallel = true;
  snapshot.samples = samples;
  snapshot.sampled_wall_ns = samples * wall_ns;
  snapshot.sampled_cpu_ns = samples * cpu_ns;
  snapshot.sampled_waiting_ns = waited * (wall_ns - cpu_ns);
  return snapshot;
}

TEST(Placement, MovesAStageWhoseCallsWaitToThePool) { EXPECT_EQ(Placement().wish(stage(2, 10 * kMs, kMs, 2)), 1); }

TEST(Placement, LeavesAStageThatComputesWhereItIs) {
  EXPECT_EQ(Placement().wish(stage(20, 10 * kMs, 10 * kMs, 0)), std::nullopt);
}

TEST(Placement, DoesNotTakePreemptionForWaiting) {
  EXPECT_EQ(Placement().wish(stage(20, 10 * kMs, 2 * kMs, 0)), std::nullopt);
}

TEST(Placement, BringsAStageBackThatComputesAfterAll) {
  StageSnapshot snapshot = stage(8, 10 * kMs, 10 * kMs, 0);
  snapshot.on_pool = true;
  EXPECT_EQ(Placement().wish(snapshot), 0);
}

TEST(Placement, LeavesShortCallsOnTheCores) { EXPECT_EQ(Placement().wish(stage(20, 20'000, 1'000, 20)), std::nullopt); }

TEST(Placement, LeavesAStageAloneWhoseUserHasSaidWhatItIs) {
  StageSnapshot snapshot = stage(20, 10 * kMs, kMs, 20);
  snapshot.form_is_known = true;
  EXPECT_EQ(Placement().wish(snapshot), std::nullopt);
}

TEST(Placement, JudgesByWhatHasHappenedSinceItLastDid) {
  Placement placement;
  EXPECT_EQ(placement.wish(stage(8, 10 * kMs, 10 * kMs, 0)), std::nullopt);
  StageSnapshot later = stage(8, 10 * kMs, 10 * kMs, 0);
  later.samples += 2;
  later.sampled_wall_ns += 20 * kMs;
  later.sampled_waiting_ns += 20 * kMs;
  EXPECT_EQ(placement.wish(later), 1);
}

// They wait for a third of their time: that says neither what they are, nor what they become.
TEST(Placement, ForgetsManyCallsThatSayNothing) {
  Placement placement;
  StageSnapshot snapshot = stage(1000, 9 * kMs, 6 * kMs, 1000);
  EXPECT_EQ(placement.wish(snapshot), std::nullopt);
  snapshot.samples += 2;
  snapshot.sampled_wall_ns += 20 * kMs;
  snapshot.sampled_waiting_ns += 20 * kMs;
  EXPECT_EQ(placement.wish(snapshot), 1);
}

// A pipe that is written to in bursts: one read of ten waits, for nearly all of the time.
TEST(Placement, MovesAStageOfWhichOneCallInTenWaitsForMostOfTheTime) {
  StageSnapshot snapshot = stage(10, 10 * kMs, 0, 1);
  snapshot.sampled_waiting_ns = 99 * kMs;
  EXPECT_EQ(Placement().wish(snapshot), 1);
  snapshot.on_pool = true;
  EXPECT_EQ(Placement().wish(snapshot), std::nullopt) << "it stays there";
}

// Looks at calls under way, one a tick: the last wish of a new Placement.
std::optional<int> wish_after(const std::vector<bool>& looks_asleep, StageSnapshot snapshot = {}) {
  Placement placement;
  std::optional<int> wish;
  for (const bool asleep : looks_asleep) {
    ++snapshot.looks;
    snapshot.looks_asleep += asleep;
    wish = placement.wish(snapshot);
  }
  return wish;
}

TEST(Placement, MovesAStageWhoseCallIsAsleepAtEachLookBeforeItEnds) {
  EXPECT_EQ(wish_after(std::vector<bool>(7, true)), std::nullopt);
  EXPECT_EQ(wish_after(std::vector<bool>(8, true)), 1);
}

TEST(Placement, LeavesAStageWhoseCallsSleepNowAndThen) {
  std::vector<bool> a_third;
  for (int i = 0; i < 1000; ++i) a_third.push_back(i % 3 == 0);
  EXPECT_EQ(wish_after(a_third), std::nullopt);
}

// Its last eight reads were quick.
TEST(Placement, LeavesAStageOnThePoolOfWhichCallsAreSeenAsleep) {
  StageSnapshot quick = stage(8, kMs, kMs, 0);
  quick.on_pool = true;
  EXPECT_EQ(wish_after({true}, quick), std::nullopt);
  EXPECT_EQ(wish_after({true, false}, quick), std::nullopt) << "was judged at the first look";
  EXPECT_EQ(wish_after({false}, quick), 0);
}

// Each time that it is on the cores, where it holds the permit that others need, it waits.
TEST(Placement, BringsAStageBackThatWaitsOnlyOnTheCoresLessAndLessOften) {
  Placement placement;
  StageSnapshot snapshot = stage(0, 0, 0, 0);
  const auto windows_on_the_pool = [&] {
    snapshot.on_pool = true;
    for (int windows = 1;; ++windows) {
      snapshot.samples += 8;
      snapshot.sampled_cpu_ns += 8 * kMs;
      if (placement.wish(snapshot) == 0) return windows;
    }
  };
  std::vector<int> windows;
  for (int i = 0; i < 4; ++i) {
    windows.push_back(windows_on_the_pool());
    snapshot.on_pool = false;
    snapshot.samples += 2;
    snapshot.sampled_waiting_ns += 10 * kMs;
    ASSERT_EQ(placement.wish(snapshot), 1);
  }
  EXPECT_EQ(windows, (std::vector{1, 2, 4, 8}));
}

// Two windows in a row are asked of it by then, and one lies between.
TEST(Placement, ForgetsAProofThatWasFollowedByItsOpposite) {
  Placement placement;
  StageSnapshot snapshot = stage(0, 0, 0, 0);
  const auto window = [&](bool on_pool, bool waits) {
    snapshot.on_pool = on_pool;
    snapshot.samples += 8;
    (waits ? snapshot.sampled_waiting_ns : snapshot.sampled_cpu_ns) += 80 * kMs;
    return placement.wish(snapshot);
  };
  EXPECT_EQ(window(true, false), 0);
  EXPECT_EQ(window(false, true), 1);
  EXPECT_EQ(window(true, false), std::nullopt);
  EXPECT_EQ(window(true, true), std::nullopt);
  EXPECT_EQ(window(true, false), std::nullopt) << "the first one behind what says the contrary";
  EXPECT_EQ(window(true, false), 0);
}

// 12 of 20 ms it was ready, and had no core.
TEST(Placement, DoesNotCountTheTimeForWhichACallIsKeptFromACore) {
  StageSnapshot snapshot = stage(8, 20 * kMs, 7 * kMs, 8);
  snapshot.sampled_waiting_ns = 8 * kMs;
  EXPECT_EQ(Placement().wish(snapshot), std::nullopt) << "it computes";
  snapshot.on_pool = true;
  EXPECT_EQ(Placement().wish(snapshot), 0);
}

// It polls, and was caught awake.
TEST(Placement, MovesAStageWhoseCallIsAsleepAtNearlyEachLook) {
  std::vector<bool> looks(16, true);
  looks[5] = false;
  EXPECT_EQ(wish_after(looks), 1);
}

}  // namespace
}  // namespace penstock::autotune
