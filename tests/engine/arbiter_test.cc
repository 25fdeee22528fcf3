// What runs of one process leave one another.
#include "lib/runtime/arbiter.h"

#include <random>

#include "lib/runtime/claims.h"

#include "tests/engine/support.h"

namespace penstock::runtime {
namespace {

using namespace testing;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
constexpr double kAll = 1e9;

TEST(Arbiter, LeavesALoneRunEverythingItMayHave) {
  EXPECT_THAT(shares_of(8, {{kAll, 0}}), ElementsAre(8.0));
  EXPECT_THAT(shares_of(8, {{3, 100}}), ElementsAre(3.0));
}

TEST(Arbiter, DividesEvenlyBetweenRunsThatWishForEverything) {
  EXPECT_THAT(shares_of(8, {{kAll, kAll}, {kAll, kAll}}), ElementsAre(4.0, 4.0));
  EXPECT_THAT(shares_of(1, {{kAll, kAll}, {kAll, kAll}, {kAll, kAll}, {kAll, kAll}}),
              ElementsAre(0.25, 0.25, 0.25, 0.25));
}

TEST(Arbiter, GivesToOthersWhatAModestRunLeaves) {
  EXPECT_THAT(shares_of(8, {{kAll, kAll}, {kAll, 1}}), ElementsAre(7.0, 4.0))
      << "the modest one may have its half when it wants it";
  EXPECT_THAT(shares_of(9, {{kAll, kAll}, {kAll, 1}, {kAll, kAll}}), ElementsAre(4.0, 3.0, 4.0));
}

TEST(Arbiter, CountsNoMoreOfAWishThanTheRunMayHave) {
  EXPECT_THAT(shares_of(8, {{kAll, kAll}, {2, kAll}}), ElementsAre(6.0, 2.0));
}

// By its definition: no run can be given more than its share but at the cost of one that has no more than itself.
TEST(Arbiter, TakesFromNobodyWhoHasLess) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> wish(0, 10);
  for (int trial = 0; trial < 500; ++trial) {
    const double total = 10;
    Claims claims(1 + random() % 6);
    for (Claim& claim : claims) claim = {kAll, wish(random)};
    const auto shares = shares_of(total, claims);
    for (std::size_t i = 0; i < claims.size(); ++i) {
      double taken = shares[i];
      for (std::size_t j = 0; j < claims.size(); ++j) {
        if (j != i) taken += std::min(claims[j].wish, shares[i]);
      }
      EXPECT_NEAR(taken, total, 1e-9) << "this one at its share, the others at their wish or as much";
    }
  }
}

TEST(Arbiter, LeavesNothingToRunsThatHaveEnded) {
  EXPECT_THAT(shares_of(8, {{}, {kAll, kAll}}), ElementsAre(0.0, 8.0));
}

Snapshot snapshot_at(double seconds, const StageSnapshot& stage) {
  Snapshot snapshot;
  snapshot.time_ns = static_cast<std::int64_t>(seconds * 1e9);
  snapshot.stages = {stage};
  return snapshot;
}

TEST(Claims, AreALittleMoreThanWhatIsUsed) {
  RunClaims claims(64);
  StageSnapshot stage;
  claims.look(snapshot_at(1, stage), 4);
  stage.slot_ns = 2'000'000'000;
  claims.look(snapshot_at(3, stage), 4);
  EXPECT_THAT(claims.cpus().wish, DoubleEq(1.25));
  EXPECT_THAT(claims.cpus().most, DoubleEq(4));
  EXPECT_THAT(claims.blocking_calls().wish, DoubleEq(0));
  EXPECT_THAT(claims.blocking_calls().most, DoubleEq(64));
}

TEST(Claims, AreEverythingWhileTheRunWaitsForAPermit) {
  RunClaims claims(64);
  StageSnapshot stage;
  stage.waits_for_cpu_slot = true;
  claims.look(snapshot_at(1, stage), 4);
  EXPECT_THAT(claims.cpus().wish, DoubleEq(4));
}

TEST(Claims, AreEverythingWhicheverStageWaitsForAPermit) {
  RunClaims claims(64);
  StageSnapshot waiting;
  waiting.waits_for_cpu_slot = true;
  Snapshot snapshot = snapshot_at(1, waiting);
  snapshot.stages.emplace_back();
  claims.look(snapshot, 4);
  EXPECT_THAT(claims.cpus().wish, DoubleEq(4));
}

TEST(Claims, ToThreadsAreTwiceWhatIsUsedWhereAllCallsAreUnderWay) {
  RunClaims claims(64);
  StageSnapshot stage;
  stage.on_pool = true;
  stage.parallelism = 10;
  stage.slot_ns = 10'000'000'000;
  claims.look(snapshot_at(1, stage), 4);
  EXPECT_THAT(claims.blocking_calls().wish, DoubleEq(20));
  stage.slot_ns += 4'000'000'000;
  claims.look(snapshot_at(2, stage), 4);
  EXPECT_THAT(claims.blocking_calls().wish, DoubleEq(5));
  EXPECT_THAT(claims.cpus().wish, DoubleEq(0));
}

TEST(Claims, AreNothingForCallsThatCompleteLater) {
  RunClaims claims(64);
  StageSnapshot stage;
  stage.completes_later = true;
  stage.parallelism = 8;
  claims.look(snapshot_at(1, stage), 4);
  stage.slot_ns = 8'000'000'000;
  claims.look(snapshot_at(2, stage), 4);
  EXPECT_THAT(claims.cpus().wish, DoubleEq(0));
  EXPECT_THAT(claims.blocking_calls().wish, DoubleEq(0));
}

// -------------------------------------------------------------------------------- two runs

std::int64_t nap(std::int64_t value) {
  std::this_thread::sleep_for(100ms);  // long, so that its consumer is the faster one on any machine
  return value;
}

TEST(TwoRuns, PlanWithHalfOfTheThreadsEachWhileBothWantThem) {
  const auto sleeping = range(100'000'000).map(nap, 100, {.blocks = true});
  auto one = sleeping.start({.open_io = 256, .tune = false});
  one.next();
  EXPECT_EQ(one.snapshot().open_io_limit, 256);
  {
    auto other = sleeping.start({.open_io = 256, .tune = false});
    EXPECT_TRUE(eventually([&] {
      one.next();
      other.next();
      const std::int64_t left_to_one = one.snapshot().open_io_limit;
      return left_to_one < 256 && left_to_one + other.snapshot().open_io_limit < 400;
    }));
  }
  EXPECT_TRUE(eventually([&] { return one.snapshot().open_io_limit == 256; }));
}

TEST(TwoRuns, CountTheCpuPermitsThatTheyUseThemselves) {
  std::atomic<bool> may_end{false};
  auto busy = range(100)
                  .map(
                      [&may_end](std::int64_t value) {
                        while (!may_end) std::this_thread::yield();
                        return value;
                      },
                      1, {.blocks = false})
                  .start({.threads = 2, .tune = false});  // a permit for each of them, on any machine
  busy.knobs();                                           // it begins to read
  auto idle = range(100).map(plus_one).start({.tune = false});
  idle.next();
  EXPECT_TRUE(
      eventually([&] { return busy.snapshot().cpu_slots_in_use == 1 && idle.snapshot().cpu_slots_in_use == 0; }));
  may_end = true;
}

// On a thread that nobody knows of.
std::int64_t sum_elsewhere(const Dataset<std::int64_t>& data) {
  std::int64_t sum = 0;
  std::thread([&] {
    for (const std::int64_t value : data) sum += value;
  }).join();
  return sum;
}

TEST(TwoRuns, GoOnWhereTheOnesCallsHaveAllPermitsAndWaitForTheOther) {
  const auto inner = range(100).map(plus_one);
  const auto outer = range(4).map([inner](std::int64_t) { return sum_elsewhere(inner); }, 64, {.blocks = false});
  EXPECT_EQ(read(outer), Texts(4, "5050"));
}

TEST(TwoRuns, GoOnWhereTheOnesCallsHaveAllThreadsOfThePoolAndWaitForTheOther) {
  constexpr int all = 256;
  std::atomic<int> begun{0};
  const auto inner = range(3).map(plus_one, 1, {.blocks = true});
  const auto sum_when_all_are_taken = [&, inner](std::int64_t) {
    ++begun;
    return eventually([&begun] { return begun >= all; }) ? sum_elsewhere(inner) : 0;
  };
  EXPECT_EQ(read(range(all + 1).map(sum_when_all_are_taken, all + 1, {.blocks = true})), Texts(all + 1, "6"));
}

// What a run does not use is the other one's.
TEST(TwoRuns, PlanWithTheCpusThatTheOtherLeaves) {
  const auto burning = range(100'000'000)
                           .map(
                               [](std::int64_t value) {
                                 for (const auto end = std::chrono::steady_clock::now() + 300us;
                                      std::chrono::steady_clock::now() < end;) {
                                 }
                                 return value;
                               },
                               8, {.blocks = false});
  auto one = burning.start({.tune = false});
  one.next();
  const double all = one.snapshot().cpu_budget;
  auto idle = range(1'000'000'000).map(plus_one).start({.tune = false});
  idle.next();
  EXPECT_TRUE(eventually([&] {
    for (int i = 0; i < 20; ++i) one.next();
    return one.snapshot().cpu_budget > 0.8 * all;
  }));
  auto other = burning.start({.tune = false});
  EXPECT_TRUE(eventually([&] {
    for (int i = 0; i < 20; ++i) {
      one.next();
      other.next();
    }
    return one.snapshot().cpu_budget < 0.6 * all && other.snapshot().cpu_budget < 0.6 * all;
  }));
}

}  // namespace
}  // namespace penstock::runtime
