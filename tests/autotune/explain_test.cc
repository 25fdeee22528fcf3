#include "autotune/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/autotune/hand_made.h"

namespace penstock::autotune {
namespace {

using Change = Explanation::Change;
using Problem = Explanation::Problem;

Explanation explained(const Snapshot& now) { return explain(facts_of(now)); }

// Two reads of 10 ms at once, 0.05 of it on a core: 197 a second; a decoder of 1 ms on two cores; a consumer that could take 2,462.
Snapshot slow_reads() {
  return second_of({on_pool(worked("read", 197, 10 * kMs, kMs / 20), 2), with_calls(worked("decode", 197, kMs, kMs), 2)}, 197, 0.92);
}
constexpr double kCpuBound = 2 / 0.00105, kReadBound = 2 / 0.01, kConsumerBound = 197 / 0.08;

const Explanation::WhatIf* what_if(const Explanation& of, Change change) {
  for (const auto& each : of.what_ifs)
    if (each.change == change) return &each;
  return nullptr;
}

const Explanation::Warning* warning(const Explanation& of, Problem problem) {
  for (const auto& each : of.warnings)
    if (each.problem == problem) return &each;
  return nullptr;
}

TEST(Explain, SaysWhatIsDeliveredAndHowLongTheConsumerWaits) {
  const Explanation found = explained(slow_reads());
  EXPECT_DOUBLE_EQ(found.delivered.value, 197);
  EXPECT_EQ(found.delivered.samples, 197);
  EXPECT_NEAR(found.wait_share.value, 0.92, 1e-9);
  EXPECT_TRUE(found.input_bound());
  EXPECT_NEAR(found.headroom(), 1 / 0.08, 1e-6);
}

TEST(Explain, SaysWhatOneMoreCallWouldBring) {
  const Explanation found = explained(slow_reads());
  ASSERT_NE(what_if(found, Change::call), nullptr);
  EXPECT_EQ(what_if(found, Change::call)->stage, 0);
  EXPECT_NEAR(what_if(found, Change::call)->gain, 0.5, 1e-9);
  EXPECT_EQ(what_if(found, Change::call)->next, Limit::parallel);
}

TEST(Explain, SaysHowManyCallsWouldBeOfUseAndWhatTheLimitIsThen) {
  const Explanation found = explained(slow_reads());
  ASSERT_NE(what_if(found, Change::calls), nullptr);
  EXPECT_EQ(what_if(found, Change::calls)->amount, std::ceil(kCpuBound * 0.01));
  EXPECT_NEAR(what_if(found, Change::calls)->gain, kCpuBound / kReadBound - 1, 1e-6);
  EXPECT_EQ(what_if(found, Change::calls)->next, Limit::cpu);
}

TEST(Explain, SaysThatACoreBringsNothingBeforeTheBottleneckIsGone) {
  const Explanation found = explained(slow_reads());
  ASSERT_NE(what_if(found, Change::core), nullptr);
  EXPECT_EQ(what_if(found, Change::core)->gain, 0);
  EXPECT_NEAR(what_if(found, Change::core)->gain_later, kConsumerBound / kCpuBound - 1, 1e-6) << "the consumer comes before 3 cores";
}

TEST(Explain, SaysWhatACoreAndAFasterStageBringWhereTheCoresAreTheLimit) {
  const Explanation found = explained(second_of({with_calls(worked("load", 195, kMs, kMs), 2), with_calls(worked("decode", 195, 9 * kMs, 9 * kMs), 2)}, 195, 1));
  EXPECT_EQ(found.bottleneck.limit, Limit::cpu);
  EXPECT_NEAR(what_if(found, Change::core)->gain, 0.5, 1e-9);
  const auto* faster = what_if(found, Change::twice_as_fast);
  ASSERT_NE(faster, nullptr);
  EXPECT_EQ(faster->stage, 1) << "the one that takes most of the cores";
  EXPECT_NEAR(faster->gain, 10 / 5.5 - 1, 1e-9);
}

TEST(Explain, SaysWhatAStageInTurnWouldGainIfItWereFaster) {
  const Explanation found = explained(second_of({with_calls(worked("decode", 495, kMs, kMs), 2), in_turn(worked("scan", 495, 2 * kMs, 2 * kMs))}, 495, 0.9));
  EXPECT_EQ(found.bottleneck.limit, Limit::serial);
  const auto* faster = what_if(found, Change::twice_as_fast);
  ASSERT_NE(faster, nullptr);
  EXPECT_EQ(faster->stage, 1);
  EXPECT_NEAR(faster->gain, 1, 1e-9) << "1 ms each in turn, and 2 cores for 2 ms each: both 1,000/s";
  EXPECT_EQ(what_if(found, Change::core)->gain, 0);
}

TEST(Explain, SaysWhatComesAfterMemory) {
  Snapshot now = second_of({on_pool(worked("read", 40, 50 * kMs, 0), 8), with_calls(worked("decode", 40, 20 * kMs, 20 * kMs), 2)}, 40, 0.9);
  Facts facts = facts_of(now);
  facts.window.looks = hundred_looks(now, 0, &StageLooks::memory, 90);
  const Explanation found = explain(facts);
  EXPECT_EQ(found.bottleneck.limit, Limit::memory);
  ASSERT_NE(what_if(found, Change::lifted), nullptr);
  EXPECT_NEAR(what_if(found, Change::lifted)->gain, 100.0 / 40 - 1, 1e-9);
  EXPECT_EQ(what_if(found, Change::lifted)->next, Limit::cpu);
}

TEST(Explain, PromisesNothingFromThePipelineWhereTheConsumerIsTheLimit) {
  Snapshot now = slow_reads();
  now.consumer.wait_ns = 0;
  const Explanation found = explained(now);
  EXPECT_EQ(found.bottleneck.limit, Limit::consumer);
  EXPECT_FALSE(found.input_bound());
  EXPECT_NEAR(found.headroom(), 1, 1e-9);
  EXPECT_NEAR(what_if(found, Change::core)->gain, 0, 1e-9);
}

TEST(Explain, HasBoundsWithTheirSamplesSmallestFirst) {
  const Explanation found = explained(slow_reads());
  ASSERT_GE(found.bounds.size(), 3u);
  EXPECT_EQ(found.bounds[0].limit, Limit::parallel);
  EXPECT_NEAR(found.bounds[0].rate, kReadBound, 1e-6);
  EXPECT_EQ(found.bounds[0].has, 2);
  EXPECT_EQ(found.bounds[0].samples, 197);
}

// Each keeps its time at work and hands the rest on: decode 0.197 / 2, and read 1.97 / 2 of what is left.
TEST(Explain, SharesTheWaitingOutAmongTheStages) {
  const double decode = 0.0985, read = (1 - decode) * 0.985;
  const Explanation found = explained(slow_reads());
  EXPECT_NEAR(found.stages[1].blame, decode / (decode + read), 1e-9);
  EXPECT_NEAR(found.stages[0].blame, read / (decode + read), 1e-9);
}

// It would have nothing to do: then nobody waits for it.
TEST(Explain, BlamesNoStageForTheTimeInWhichItHadNoInput) {
  Snapshot now = slow_reads();
  now.stages[1].starved_ns = kSecond;
  EXPECT_NEAR(explained(now).stages[1].blame, 0, 1e-9);
  EXPECT_NEAR(explained(now).stages[0].blame, 1, 1e-9);
}

// Two sources feed one stage.
TEST(Explain, SharesTheWaitingOutAmongBranches) {
  Snapshot now = second_of({worked("a", 100, 10 * kMs, 0), worked("b", 100, 10 * kMs, 0), worked("zip", 100, 4 * kMs, 0)}, 100, 1);
  now.stages[0].feeds = now.stages[1].feeds = 2;
  const Explanation found = explained(now);
  EXPECT_NEAR(found.stages[0].blame, 0.3, 1e-9);
  EXPECT_NEAR(found.stages[1].blame, 0.3, 1e-9);
  EXPECT_NEAR(found.stages[2].blame, 0.4, 1e-9);
}

TEST(Explain, HasTheTimesOfACallWithTheirError) {
  Snapshot now = slow_reads();
  now.stages[0].service_times = {};
  now.stages[0].service_times[service_time_bucket(8 * kMs)] = 100;   // 8 or so
  now.stages[0].service_times[service_time_bucket(12 * kMs)] = 97;   // and 12 or so
  const Explanation found = explained(now);
  EXPECT_DOUBLE_EQ(found.stages[0].call.value, 0.010);
  EXPECT_EQ(found.stages[0].call.samples, 197);
  EXPECT_NEAR(found.stages[0].call.error, 0.002 / std::sqrt(197), 0.0001);
  EXPECT_NEAR(found.stages[0].cpu, 0.00005, 1e-9);
  EXPECT_NEAR(found.stages[0].waiting, 0.00995, 1e-9);
  EXPECT_EQ(found.stages[0].clock_samples, 197);
}

TEST(Explain, TakesTheTimesOfTheRunWhereNothingEndedInTheWindow) {
  Facts facts = facts_of(slow_reads());
  facts.window.before = facts.window.now;
  facts.window.now.time_ns += kSecond;
  facts.window.now.stages[0].slot_ns += 2 * kSecond;
  facts.window.now.consumer.wait_ns += kSecond;
  const Explanation found = explain(facts);
  EXPECT_EQ(found.delivered.samples, 0);
  EXPECT_EQ(found.bottleneck.limit, Limit::parallel);
  EXPECT_EQ(found.bottleneck.stage, 0);
  EXPECT_GT(found.stages[0].call.value, 0.010) << "the calls that have not ended count";
}

TEST(Explain, WarnsThatABufferCannotHelp) {
  EXPECT_NE(warning(explained(slow_reads()), Problem::buffer_cannot_help), nullptr);
  Snapshot served = slow_reads();
  served.consumer.wait_ns = 0;
  EXPECT_EQ(warning(explained(served), Problem::buffer_cannot_help), nullptr);
}

TEST(Explain, WarnsOfABudgetThatIsSmallerThanWhatOpsMustHold) {
  Snapshot now = slow_reads();
  now.memory_limit = 100;
  EXPECT_EQ(warning(explained(now), Problem::memory_too_small), nullptr);
  now.stages[1].bytes_required = 150;
  ASSERT_NE(warning(explained(now), Problem::memory_too_small), nullptr);
  EXPECT_EQ(warning(explained(now), Problem::memory_too_small)->amount, 150);
}

TEST(Explain, WarnsOfThreadsThatAreNobodysAndCountsTheirCores) {
  Snapshot now = second_of({with_calls(worked("decode", 100, 10 * kMs, kMs), 2)}, 100, 1);
  now.process_cpu_ns = 1600 * kMs;
  now.workers_cpu_ns = 100 * kMs;
  now.consumer_cpu_ns = 0;
  now.clocks_ns = kSecond;
  Facts facts = facts_of(now);
  facts.window.before.process_cpu_ns = facts.window.before.workers_cpu_ns = facts.window.before.consumer_cpu_ns = 0;
  facts.window.before.clocks_ns = 0;
  const Explanation found = explain(facts);
  ASSERT_NE(warning(found, Problem::foreign_threads), nullptr);
  EXPECT_NEAR(warning(found, Problem::foreign_threads)->amount, 1.5, 1e-9);
  EXPECT_EQ(warning(found, Problem::foreign_threads)->stage, 0);
  EXPECT_NEAR(found.cpu_used, 1.6, 1e-9);
  EXPECT_NEAR(found.stages[0].cpu, 0.016, 1e-9) << "charged to the stage";
}

TEST(Explain, WarnsWhereTheConsumersOwnThreadWaitsForACore) {
  Facts facts = facts_of(slow_reads());
  facts.window.before.consumer.delay_ns = 0;
  facts.window.now.consumer.delay_ns = 200 * kMs;
  const Explanation found = explain(facts);
  ASSERT_NE(warning(found, Problem::consumer_delayed), nullptr);
  EXPECT_NEAR(warning(found, Problem::consumer_delayed)->amount, 0.2, 1e-9);
}

// As it is at the end of a run.
TEST(Explain, WarnsOfADelayOverTheWholeRunWhoseBeginningNobodyHasSeen) {
  Facts facts = facts_of(slow_reads());
  facts.window.now.consumer.delay_ns = 200 * kMs;
  ASSERT_NE(warning(explain(facts), Problem::consumer_delayed), nullptr);
  EXPECT_NEAR(warning(explain(facts), Problem::consumer_delayed)->amount, 0.2, 1e-9);
}

TEST(Explain, SaysNothingOfADelayThatTheSystemDoesNotTell) {
  EXPECT_EQ(warning(explained(slow_reads()), Problem::consumer_delayed), nullptr);
}

TEST(Explain, KeepsTheLastDecisions) {
  Facts facts = facts_of(slow_reads());
  for (int i = 0; i < 20; ++i) facts.decisions.push_back({.stage = 0, .knob = "parallelism", .from = i, .to = i + 1, .wanted = i + 1});
  const Explanation found = explain(facts);
  ASSERT_EQ(found.decisions.size(), 8u);
  EXPECT_EQ(found.decisions.back().to, 20);
}

TEST(Explain, OfARunThatHasNotBegunIsUnknown) {
  const Explanation found = explained(Snapshot());
  EXPECT_EQ(found.bottleneck.limit, Limit::unknown);
  EXPECT_TRUE(std::isnan(found.delivered.value));
  EXPECT_TRUE(std::isnan(found.headroom()));
  EXPECT_TRUE(found.what_ifs.empty());
}

TEST(Explain, OfNoTimeAtAllIsUnknown) {
  Facts facts = facts_of(slow_reads());
  facts.window.before = facts.window.now;
  const Explanation found = explain(facts);
  EXPECT_EQ(found.delivered.samples, 0);
  for (const auto& each : found.stages) EXPECT_TRUE(std::isfinite(each.in_flight));
}

// The same facts give the same explanation.
TEST(Explain, IsAFunctionOfTheFacts) {
  EXPECT_EQ(to_json(explained(slow_reads())), to_json(explained(slow_reads())));
}

}  // namespace
}  // namespace penstock::autotune
