#include "autotune/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/autotune/hand_made.h"

namespace penstock::autotune {
namespace {

std::vector<RateBound> bounds_of(const Snapshot& now, const std::vector<StageLimits>& limits = {}) {
  return bounds_of(rates_between(Snapshot(), now), now, limits);
}

// One that is not there has a rate of -1.
RateBound bound(const std::vector<RateBound>& bounds, Limit kind, int stage = -1) {
  for (const RateBound& each : bounds)
    if (each.kind == kind && each.stage == stage) return each;
  return {.rate = -1};
}

// read: 2 calls of 10 ms, 0.1 ms on a core; decode: 1 ms on a core; batch of 4: 2 ms per batch, in turn. 50 batches in
// a second.
Snapshot reader() {
  StageSnapshot batch = in_turn(worked("batch", 200, kMs / 2, kMs / 2));
  batch.made = batch.elements_out = 50;
  return second_of(
      {on_pool(worked("read", 200, 10 * kMs, kMs / 10), 2), with_calls(worked("decode", 200, kMs, kMs), 2), batch}, 50,
      0.9);
}

TEST(Bounds, OfAStageAreItsCallsOverTheTimeThatADeliveredElementTakesThere) {
  const auto bounds = bounds_of(reader());
  EXPECT_NEAR(bound(bounds, Limit::parallel, 0).rate, 2 / (4 * 0.010), 1e-6);
  EXPECT_NEAR(bound(bounds, Limit::parallel, 1).rate, 2 / (4 * 0.001), 1e-6);
  EXPECT_NEAR(bound(bounds, Limit::serial, 2).rate, 1 / (4 * 0.0005), 1e-6);
}

TEST(Bounds, OfTheCoresComeFromTheCpuTimeOfAllStages) {
  EXPECT_NEAR(bound(bounds_of(reader()), Limit::cpu).rate, 2 / (4 * (0.0001 + 0.001 + 0.0005)), 1e-6);
}

TEST(Bounds, OfABranchCountItsShareOfTheMixture) {
  Snapshot now =
      second_of({with_calls(worked("often", 180, 5 * kMs, 5 * kMs), 2),
                 with_calls(worked("seldom", 20, 5 * kMs, 5 * kMs), 2), in_turn(worked("sample_from", 200, 0, 0))},
                200, 0.9);
  now.stages[0].feeds = 2;
  const auto bounds = bounds_of(now);
  EXPECT_NEAR(bound(bounds, Limit::parallel, 0).rate, 2 / (0.9 * 0.005), 1e-6);
  EXPECT_NEAR(bound(bounds, Limit::parallel, 1).rate, 2 / (0.1 * 0.005), 1e-6);
  EXPECT_NEAR(bound(bounds, Limit::cpu).rate, 2 / 0.005, 1e-6);
}

TEST(Bounds, OfABranchCountWhatItGaveOfLate) {
  Snapshot before, now = second_of({worked("first", 1000, kMs, kMs), worked("second", 100, kMs, kMs),
                                    in_turn(worked("concatenate", 1100, 0, 0))},
                                   1100, 0.9);
  now.stages[0].feeds = 2;
  before = now;  // of the first alone
  before.stages[1] = {};
  before.stages[2].completed -= 100;
  const Rates rates = rates_between(before, now);
  EXPECT_NEAR(rates.stages[1].visits, 1, 1e-9);
  EXPECT_LT(rates.stages[0].visits, 0.01);
}

TEST(Bounds, OfTheCoresCountTheConsumersOwnWork) {
  Snapshot now = reader();
  now.consumer.cpu_ns = 50 * 4 * kMs;  // 4 ms a batch
  EXPECT_NEAR(bound(bounds_of(now), Limit::cpu).rate, 2 / (4 * 0.0016 + 0.004), 1e-6);
}

TEST(Bounds, OfTheConsumerIsWhatItWouldTakeIfItNeverWaited) {
  EXPECT_NEAR(bound(bounds_of(reader()), Limit::consumer).rate, 500, 1e-6);
}

TEST(Bounds, OfADeviceIsItsCeilingOverTheVisits) {
  EXPECT_NEAR(bound(bounds_of(reader(), {{.ceiling = 600}}), Limit::ceiling, 0).rate, 150, 1e-6);
  EXPECT_EQ(bound(bounds_of(reader(), {{}, {}, {}}), Limit::ceiling, 0).rate, -1);
}

TEST(Bounds, OfMemoryIsWhatIsDeliveredWhereSomebodyWaitsForIt) {
  Snapshot now = reader();
  EXPECT_EQ(bound(bounds_of(now), Limit::memory).rate, kUnbounded);
  now.stages[1].waits_for_memory = true;
  EXPECT_NEAR(bound(bounds_of(now), Limit::memory).rate, 50, 1e-6);
}

TEST(Bounds, StandInOrderTheUnknownOnesLast) {
  Snapshot now = reader();
  now.stages[1] = StageSnapshot{.name = "decode", .feeds = 2, .parallel = true};  // nothing has come out yet
  const auto bounds = bounds_of(now);
  for (std::size_t i = 1; i < bounds.size(); ++i) {
    const bool in_order = std::isnan(bounds[i].rate) || bounds[i - 1].rate <= bounds[i].rate;
    EXPECT_TRUE(in_order) << i;
  }
  EXPECT_TRUE(std::isnan(bound(bounds, Limit::parallel, 1).rate));
  EXPECT_TRUE(std::isnan(bounds.back().rate));
}

// A core that others use makes calls last longer. It does not make the stage slower once there are more cores.
TEST(Bounds, LeaveOutTheTimeInWhichNoCoreWasFree) {
  Snapshot now = second_of({with_calls(worked("work", 100, 20 * kMs, 8 * kMs), 2)}, 100, 1);
  now.stages[0].sampled_delay_ns = 100 * 12 * kMs;
  EXPECT_NEAR(bound(bounds_of(now), Limit::parallel, 0).rate, 2 / 0.008, 1e-6);
}

TEST(Bounds, TakeACallForComputingWhereItsClockWasNotReadAndItIsShort) {
  Snapshot now = reader();
  now.stages[2].samples = now.stages[2].sampled_elements = now.stages[2].sampled_wall_ns =
      now.stages[2].sampled_cpu_ns = 0;
  now.stages[2].slot_ns = 200 * kMs / 100;  // 0.01 ms each
  EXPECT_NEAR(bound(bounds_of(now), Limit::cpu).rate, 2 / (4 * (0.0001 + 0.001 + 0.00001)), 1e-6);
  now.stages[2].slot_ns = 200 * kMs;
  EXPECT_TRUE(std::isnan(bound(bounds_of(now), Limit::cpu).rate)) << "1 ms each may or may not be computing";
}

TEST(Bounds, HaveTheNumberOfSamples) {
  const auto bounds = bounds_of(reader());
  EXPECT_EQ(bound(bounds, Limit::parallel, 0).samples, 200);
  EXPECT_EQ(bound(bounds, Limit::cpu).samples, 200);
  EXPECT_EQ(bound(bounds, Limit::consumer).samples, 50);
}

TEST(Bounds, OfNothingAreUnknown) {
  for (const RateBound& each : bounds_of(Snapshot())) EXPECT_FALSE(each.rate < kUnbounded) << name_of(each.kind);
}

// More calls than cores are no more calls where they compute.
TEST(Bounds, OfAStageThatComputesHaveAsManyCallsAsCores) {
  EXPECT_EQ(calls_at_once(with_calls(worked("work", 1, 1, 1), 16), 2), 2);
  EXPECT_EQ(calls_at_once(with_calls(worked("work", 1, 1, 1), 1), 2), 1);
  EXPECT_EQ(calls_at_once(on_pool(worked("read", 1, 1, 1), 16), 2), 16);
  EXPECT_EQ(calls_at_once(in_turn(on_pool(worked("read", 1, 1, 1), 16)), 2), 1);
}

TEST(Bounds, OfANestHaveAsManyCallsAsItsDatasets) {
  StageSnapshot nest = on_pool(worked("files", 1, 1, 1), 16);
  nest.cycle_length = 4;
  EXPECT_EQ(calls_at_once(nest, 2), 4);
  nest.cycle_length = 64;
  EXPECT_EQ(calls_at_once(nest, 2), 16);
}

}  // namespace
}  // namespace penstock::autotune
