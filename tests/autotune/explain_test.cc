#include "autotune/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>

#include "tests/autotune/hand_made.h"

namespace penstock::autotune {
namespace {

using Change = Explanation::Change;
using Problem = Explanation::Problem;

Explanation explained(const Snapshot& now) { return explain(facts_of(now)); }

// Of slow_reads(): two reads of 10 ms at once, 0.05 of it on a core; a decoder of 1 ms on two cores; a consumer that
// could take 2,462.
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

// 100, 200 and 300 a second, which differ by 100.
TEST(Explain, HasTheErrorOfTheRateByHowMuchItsStepsDiffer) {
  Facts facts = facts_of(slow_reads());
  for (const auto& [ms, taken] : {std::pair(0, 0), {100, 10}, {200, 30}, {300, 60}}) {
    Snapshot step;
    step.time_ns = ms * kMs;
    step.consumer.taken = taken;
    facts.window.steps.push_back(std::make_shared<const Snapshot>(step));
  }
  EXPECT_NEAR(explain(facts).delivered.error, 100 / std::sqrt(3), 1e-6) << "of the mean of three";
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
  EXPECT_NEAR(what_if(found, Change::core)->gain_later, kConsumerBound / kCpuBound - 1, 1e-6)
      << "the consumer comes before 3 cores";
}

TEST(Explain, SaysWhatACoreAndAFasterStageBringWhereTheCoresAreTheLimit) {
  const Explanation found = explained(second_of(
      {with_calls(worked("load", 195, kMs, kMs), 2), with_calls(worked("decode", 195, 9 * kMs, 9 * kMs), 2)}, 195, 1));
  EXPECT_EQ(found.bottleneck.limit, Limit::cpu);
  EXPECT_NEAR(what_if(found, Change::core)->gain, 0.5, 1e-9);
  const auto* faster = what_if(found, Change::twice_as_fast);
  ASSERT_NE(faster, nullptr);
  EXPECT_EQ(faster->stage, 1) << "the one that takes most of the cores";
  EXPECT_NEAR(faster->gain, 10 / 5.5 - 1, 1e-9);
}

// Of 2.5 ms that an element costs, the consumer has half a millisecond.
TEST(Explain, CountsTheConsumersCpuTimeWhereItSaysWhatAFasterStageBrings) {
  const Snapshot now = second_of({with_calls(worked("decode", 790, 2 * kMs, 2 * kMs), 2)}, 790, 0.6);
  const Explanation found = explain(facts_with_clocks(with_clocks(now, 1'975 * kMs, 1'580 * kMs, 395 * kMs)));
  EXPECT_EQ(found.bottleneck.limit, Limit::cpu);
  ASSERT_NE(what_if(found, Change::twice_as_fast), nullptr);
  EXPECT_NEAR(what_if(found, Change::twice_as_fast)->gain, 2.5 / 1.5 - 1, 1e-6);
}

TEST(Explain, SaysWhatAStageInTurnWouldGainIfItWereFaster) {
  const Explanation found = explained(second_of(
      {with_calls(worked("decode", 495, kMs, kMs), 2), in_turn(worked("scan", 495, 2 * kMs, 2 * kMs))}, 495, 0.9));
  EXPECT_EQ(found.bottleneck.limit, Limit::serial);
  const auto* faster = what_if(found, Change::twice_as_fast);
  ASSERT_NE(faster, nullptr);
  EXPECT_EQ(faster->stage, 1);
  EXPECT_NEAR(faster->gain, 1, 1e-9) << "1 ms each in turn, and 2 cores for 2 ms each: both 1,000/s";
  EXPECT_EQ(what_if(found, Change::core)->gain, 0);
}

TEST(Explain, SaysWhatComesAfterMemory) {
  Snapshot now = second_of(
      {on_pool(worked("read", 40, 50 * kMs, 0), 8), with_calls(worked("decode", 40, 20 * kMs, 20 * kMs), 2)}, 40, 0.9);
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
  Snapshot now =
      second_of({worked("a", 100, 10 * kMs, 0), worked("b", 100, 10 * kMs, 0), worked("zip", 100, 4 * kMs, 0)}, 100, 1);
  now.stages[0].feeds = now.stages[1].feeds = 2;
  const Explanation found = explained(now);
  EXPECT_NEAR(found.stages[0].blame, 0.3, 1e-9);
  EXPECT_NEAR(found.stages[1].blame, 0.3, 1e-9);
  EXPECT_NEAR(found.stages[2].blame, 0.4, 1e-9);
}

TEST(Explain, HasTheTimesOfACallWithTheirError) {
  Snapshot now = slow_reads();
  now.stages[0].service_times = {};
  now.stages[0].service_times[service_time_bucket(8 * kMs)] = 100;  // 8 or so
  now.stages[0].service_times[service_time_bucket(12 * kMs)] = 97;  // and 12 or so
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

// ---------------------------------------------------------------------------------------------- a busy machine

// As measured beside four busy loops: a map of 1.34 us on a core, in groups of 160 elements. Reading the clocks costs a
// thread its core for 0.4 ms a sample; of calls that are not sampled no less time is spent without a core than of those
// that are.
Snapshot cheap_map_on_a_busy_machine() {
  constexpr std::int64_t count = 340'000, samples = 250, sampled = 170 * samples;
  StageSnapshot map = with_calls(worked("map", count, 1857, 0), 2);
  map.samples = samples;
  map.sampled_elements = sampled;
  map.sampled_wall_ns = sampled * 1616;
  map.sampled_cpu_ns = sampled * 1341;
  map.sampled_delay_ns = sampled * 275;
  map.sampling_ns = samples * 430 * 1000;
  map.slot_ns += map.sampling_ns;
  return with_clocks(second_of({map}, 83, 1), 470 * kMs, 469 * kMs, kMs);
}

TEST(Explain, SaysWhatACallCostsAlsoWhereCallsWaitForCores) {
  const Explanation found = explain(facts_with_clocks(cheap_map_on_a_busy_machine()));
  EXPECT_NEAR(found.stages[0].call.value, 1857e-9, 1e-12) << "without the reading of its clocks";
  EXPECT_NEAR(found.stages[0].cpu, 1341e-9, 1e-12);
  EXPECT_NEAR(found.stages[0].queued, 516e-9, 1e-12) << "and not waiting";
  EXPECT_NEAR(found.stages[0].waiting, 0, 1e-12);
}

TEST(Explain, CountsTheCoresByTheClocksOfTheThreads) {
  const Explanation found = explain(facts_with_clocks(cheap_map_on_a_busy_machine()));
  EXPECT_NEAR(found.cpu_used, 0.469, 1e-9);
  EXPECT_NEAR(found.cpu_in_calls, 0.340 * 1.341, 1e-9);
}

// The samples say 0.9 of a core; the threads have used half of one.
TEST(Explain, HasCallsUseNoMoreThanTheThreadsThatRunThem) {
  const Snapshot now = with_clocks(second_of({with_calls(worked("work", 1000, kMs, 9 * kMs / 10), 2)}, 1000, 1),
                                   500 * kMs, 500 * kMs, 0);
  const Explanation found = explain(facts_with_clocks(now));
  EXPECT_NEAR(found.cpu_in_calls, 0.5, 1e-9);
  EXPECT_NEAR(found.stages[0].cpu, 0.0005, 1e-9);
}

// The clocks of the threads count all runs.
TEST(Explain, CountsTheCoresByItsCallsWhereOtherRunsShareTheThreads) {
  Snapshot now =
      with_clocks(second_of({with_calls(worked("work", 1000, kMs, kMs / 2), 2)}, 1000, 1), 1500 * kMs, 1500 * kMs, 0);
  now.runs = 2;
  EXPECT_NEAR(explain(facts_with_clocks(now)).cpu_used, 0.5, 1e-9);
  now.runs = 1;
  EXPECT_NEAR(explain(facts_with_clocks(now)).cpu_used, 1.5, 1e-9);
}

// What it has used is in the difference all the same.
TEST(Explain, CountsTheCoresByItsCallsWhereAnotherRunHasJustEnded) {
  const Snapshot now =
      with_clocks(second_of({with_calls(worked("work", 1000, kMs, kMs / 2), 2)}, 1000, 1), 1500 * kMs, 1500 * kMs, 0);
  Facts facts = facts_with_clocks(now);
  facts.window.before.time_ns = kSecond;
  facts.window.before.clocks_ns = kSecond;
  facts.window.now.time_ns = facts.window.now.clocks_ns = 2 * kSecond;
  facts.window.before.runs = 2;
  EXPECT_NEAR(explain(facts).cpu_used, 0.5, 1e-9);
  facts.window.before.runs = 1;
  EXPECT_NEAR(explain(facts).cpu_used, 1.5, 1e-9);
}

// Two naps of 20 ms at once, at nice 19 beside four busy loops: a call is ready for 60 ms more before it gets a core,
// and what follows waits for a core, too.
Snapshot naps_on_a_busy_machine() {
  StageSnapshot naps = delayed(on_pool(worked("nap", 25, 80 * kMs, kMs / 20), 2), 60 * kMs);
  StageSnapshot cheap = delayed(with_calls(worked("plus_one", 25, 12 * kMs, kMs / 50), 2), 12 * kMs);
  return with_clocks(second_of({naps, cheap}, 25, 1), 3 * kMs, 2 * kMs, kMs);
}

TEST(Explain, SaysThatOtherProcessesUseTheCoresWhereTheyDo) {
  Facts facts = facts_with_clocks(naps_on_a_busy_machine());
  facts.knobs = {calls_knob(0, 2, true)};
  const Explanation found = explain(facts);
  EXPECT_EQ(found.bottleneck.limit, Limit::cpu);
  EXPECT_EQ(found.bottleneck.hold, Hold::other_processes);
  EXPECT_GT(found.queued, 0.9);
  const auto* lifted = what_if(found, Change::lifted);
  ASSERT_NE(lifted, nullptr);
  EXPECT_NEAR(lifted->gain, 2 / 0.020 / 25 - 1, 1e-6) << "two naps at once are 100 a second";
  EXPECT_EQ(lifted->next, Limit::parallel);
  EXPECT_EQ(lifted->next_stage, 0);
  EXPECT_NEAR(what_if(found, Change::core)->gain, 0.5, 1e-9) << "three cores to share are half as much again";
}

TEST(Explain, IsNotLedAstrayByAFewDelays) {
  Facts facts =
      facts_with_clocks(with_clocks(second_of({delayed(on_pool(worked("nap", 95, 21 * kMs, kMs / 20), 2), kMs),
                                               with_calls(worked("plus_one", 95, kMs / 50, kMs / 50), 2)},
                                              95, 1),
                                    8 * kMs, 7 * kMs, kMs));
  facts.knobs = {calls_knob(0, 2, true)};
  EXPECT_EQ(explain(facts).bottleneck.limit, Limit::parallel);
  EXPECT_EQ(explain(facts).bottleneck.hold, Hold::user_limit);
  EXPECT_EQ(warning(explain(facts), Problem::other_processes), nullptr);
}

// The process has other work: its threads are not other processes.
TEST(Explain, SaysNothingOfOtherProcessesWhereThisOneUsesTheCores) {
  Snapshot now = naps_on_a_busy_machine();
  now.process_cpu_ns = 1950 * kMs;
  EXPECT_NE(explain(facts_with_clocks(now)).bottleneck.hold, Hold::other_processes);
}

TEST(Explain, WarnsOfOtherProcessesWhereAnotherLimitComesFirst) {
  Snapshot now = with_clocks(second_of({delayed(with_calls(worked("decode", 40, 24 * kMs, 10 * kMs), 2), 14 * kMs),
                                        in_turn(worked("scan", 40, 24 * kMs, 0))},
                                       40, 1),
                             410 * kMs, 400 * kMs, kMs);
  const Explanation found = explain(facts_with_clocks(now));
  EXPECT_EQ(found.bottleneck.limit, Limit::serial);
  ASSERT_NE(warning(found, Problem::other_processes), nullptr);
  EXPECT_NEAR(warning(found, Problem::other_processes)->amount, 14.0 / 24, 0.01);
}

// Tensors of 100 KB from decode, a map that makes new elements, a batch of 10.
Snapshot batches(std::int64_t copied_bytes) {
  StageSnapshot batch = in_turn(worked("batch", 190, kMs / 10, kMs / 10));
  batch.made = batch.elements_out = 19;
  batch.bytes_out = 19'000'000;
  batch.copied_bytes = copied_bytes;
  batch.places_end = 2;
  return second_of({worked("files", 190, 0, 0), with_calls(worked("decode", 190, kMs, kMs), 2),
                    with_calls(worked("relabel", 190, 0, 0), 2), batch},
                   19, 1);
}

TEST(Explain, SaysBehindWhichOpBatchesCopy) {
  const Explanation found = explained(batches(19'000'000));
  ASSERT_NE(warning(found, Problem::copies), nullptr);
  EXPECT_EQ(warning(found, Problem::copies)->stage, 2);
  EXPECT_NEAR(warning(found, Problem::copies)->amount, 19e6, 1e-3) << "a second";
  EXPECT_THAT(to_text(found), ::testing::HasSubstr("what relabel (op 2) hands on does not lie in them"));
}

// They are counted since the run began, however short the window is.
TEST(Explain, SaysHowMuchIsCopiedASecondOfTheWholeRun) {
  Facts facts = facts_of(batches(19'000'000));
  facts.window.before.time_ns = 3 * kSecond / 4;
  const Explanation found = explain(facts);
  ASSERT_NE(warning(found, Problem::copies), nullptr);
  EXPECT_NEAR(warning(found, Problem::copies)->amount, 19e6, 1e-3);
}

TEST(Explain, SaysNothingOfAFewCopies) {
  EXPECT_EQ(warning(explained(batches(1'200'000)), Problem::copies), nullptr) << "a few files have failed";
  Snapshot small = batches(900'000);
  small.stages[3].bytes_out = 900'000;
  EXPECT_EQ(warning(explained(small), Problem::copies), nullptr);
  Snapshot of_source = batches(19'000'000);
  of_source.stages[3].places_end = 0;
  EXPECT_EQ(warning(explained(of_source), Problem::copies), nullptr);
}

TEST(Explain, KeepsTheLastDecisions) {
  Facts facts = facts_of(slow_reads());
  for (int i = 0; i < 20; ++i)
    facts.decisions.push_back({.stage = 0, .knob = "parallelism", .from = i, .to = i + 1, .wanted = i + 1});
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
TEST(Explain, IsAFunctionOfTheFacts) { EXPECT_EQ(to_json(explained(slow_reads())), to_json(explained(slow_reads()))); }

TEST(Explain, NamesAnOutlierWhereItIsWhatAStageWaitsFor) {
  Snapshot now = slow_reads();
  StageSnapshot& stage = now.stages[1];
  stage.made = 100;
  stage.bytes_out = 100 * 1000;
  stage.bytes_expected = 80'000'000;
  EXPECT_EQ(warning(explained(now), Problem::outlier), nullptr) << "it slows nobody";
  stage.waits_for_memory = true;
  ASSERT_NE(warning(explained(now), Problem::outlier), nullptr);
  EXPECT_EQ(warning(explained(now), Problem::outlier)->stage, 1);
  EXPECT_EQ(warning(explained(now), Problem::outlier)->amount, 80e6);
  stage.bytes_expected = 3000;
  EXPECT_EQ(warning(explained(now), Problem::outlier), nullptr) << "large, but no outlier";
}

}  // namespace
}  // namespace penstock::autotune
