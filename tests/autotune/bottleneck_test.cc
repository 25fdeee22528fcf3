#include "autotune/bottleneck.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "tests/autotune/hand_made.h"

namespace penstock::autotune {
namespace {

Explanation::Bottleneck bottleneck_in(Facts facts) { return bottleneck_of(evidence_of(std::move(facts))); }
Explanation::Bottleneck bottleneck_in(const Snapshot& now) { return bottleneck_in(facts_of(now)); }

TEST(Bottleneck, IsTheStageWhoseCallsAreAllUnderWay) {
  const auto found = bottleneck_in(slow_reads());
  EXPECT_EQ(found.limit, Limit::parallel);
  EXPECT_EQ(found.stage, 0);
  EXPECT_NEAR(found.use, 0.985, 0.01);
  EXPECT_EQ(found.hold, Hold::settling);
}

TEST(Bottleneck, IsTheConsumerWhereItHardlyWaits) {
  Snapshot now = slow_reads();
  now.consumer.wait_ns = 20 * kMs;
  EXPECT_EQ(bottleneck_in(now).limit, Limit::consumer);
  EXPECT_EQ(bottleneck_in(now).hold, Hold::nothing);
}

// Calls are as many as the consumer needs, so nearly all are under way; that is no limit to it.
TEST(Bottleneck, IsTheConsumerWhereItWaitsALittleAndTheCallsWereMadeFewForIt) {
  Snapshot now = second_of({on_pool(worked("read", 90, 10 * kMs, kMs / 20), 1)}, 90, 0.06);
  EXPECT_EQ(bottleneck_in(now).limit, Limit::consumer);
}

TEST(Bottleneck, IsTheCoresWhereTheyAreAllInUse) {
  const Snapshot now = second_of(
      {on_pool(worked("read", 900, 10 * kMs, kMs / 10), 24), with_calls(worked("decode", 900, 2 * kMs, 2 * kMs), 2)},
      900, 0.6);
  const auto found = bottleneck_in(now);
  EXPECT_EQ(found.limit, Limit::cpu);
  EXPECT_EQ(found.stage, -1);
  EXPECT_NEAR(found.use, (90 + 1800) / 2000.0, 0.001);
  EXPECT_EQ(found.hold, Hold::cores);
}

// Just as many reads as the cores can decode: more of them would help nobody.
TEST(Bottleneck, IsTheCoresAndNotTheCallsThatWereMadeJustEnoughForThem) {
  const Snapshot now =
      second_of({on_pool(worked("read", 950, 10 * kMs, 0), 10), with_calls(worked("decode", 950, 2 * kMs, 2 * kMs), 2)},
                950, 0.6);
  EXPECT_EQ(bottleneck_in(now).limit, Limit::cpu);
}

// Two permits in use all the time, and only one core's worth of CPU time: somebody else has the other one.
TEST(Bottleneck, IsTheCoresWhereOtherProcessesTakeThem) {
  Snapshot now = second_of({with_calls(worked("decode", 250, 8 * kMs, 4 * kMs), 2)}, 250, 1);
  now.stages[0].sampled_delay_ns = 250 * 4 * kMs;
  EXPECT_EQ(bottleneck_in(now).limit, Limit::cpu);
  EXPECT_EQ(bottleneck_in(now).hold, Hold::other_processes);
}

TEST(Bottleneck, IsTheCoresWhereTheConsumerComputesOnThem) {
  Snapshot now = second_of({with_calls(worked("decode", 250, 8 * kMs, 4 * kMs), 2)}, 250, 0.1);
  now.stages[0].sampled_delay_ns = 250 * 4 * kMs;
  now.consumer.cpu_ns = 900 * kMs;
  EXPECT_EQ(bottleneck_in(now).limit, Limit::cpu);
  EXPECT_EQ(bottleneck_in(now).hold, Hold::cores);
}

TEST(Bottleneck, IsAStageThatWorksInTurnAndIsAlwaysAtIt) {
  const Snapshot now = second_of(
      {with_calls(worked("decode", 490, kMs, kMs), 2), in_turn(worked("scan", 490, 2 * kMs, 2 * kMs))}, 490, 0.8);
  const auto found = bottleneck_in(now);
  EXPECT_EQ(found.limit, Limit::serial);
  EXPECT_EQ(found.stage, 1);
  EXPECT_EQ(found.hold, Hold::one_at_a_time);
}

// Two calls at once hold both permits, but they sleep.
TEST(Bottleneck, IsAStageThatWaitsOnTheCoresAndNotTheCores) {
  const auto found = bottleneck_in(second_of({with_calls(worked("fetch", 195, 10 * kMs, kMs / 10), 2)}, 195, 1));
  EXPECT_EQ(found.limit, Limit::parallel);
  EXPECT_EQ(found.stage, 0);
}

TEST(Bottleneck, IsADeviceWhereProbesFoundItsCeiling) {
  Facts facts = facts_of(second_of({on_pool(worked("read", 990, 9 * kMs, 0), 9)}, 990, 0.4));
  facts.limits = {{.ceiling = 1000}};
  const auto found = bottleneck_in(facts);
  EXPECT_EQ(found.limit, Limit::ceiling);
  EXPECT_EQ(found.stage, 0);
  EXPECT_EQ(found.hold, Hold::device);
}

TEST(Bottleneck, IsNoDeviceWhoseCeilingIsFarAway) {
  Facts facts = facts_of(slow_reads());
  facts.limits = {{.ceiling = 1000}, {}};
  EXPECT_EQ(bottleneck_in(facts).limit, Limit::parallel);
}

TEST(Bottleneck, IsADeviceWhereMoreCallsWereTakenBack) {
  Facts facts = facts_of(slow_reads());
  facts.decisions = {{.stage = 0, .knob = "parallelism", .from = 3, .to = 2, .wanted = 2, .reason = Reason::restore}};
  EXPECT_EQ(bottleneck_in(facts).limit, Limit::ceiling);
}

// The controller tries whether one call less would do. The device is the limit all the same.
TEST(Bottleneck, IsADeviceAlsoWhileFewerCallsAreTried) {
  Facts facts = facts_of(second_of({on_pool(worked("read", 600, 3 * kMs / 2, 0), 1)}, 600, 0.9));
  facts.limits = {{.ceiling = 1000}};
  EXPECT_EQ(bottleneck_in(facts).limit, Limit::parallel);
  facts.decisions = {
      {.stage = 0, .knob = "parallelism", .from = 2, .to = 1, .wanted = 1, .reason = Reason::trim_probe}};
  EXPECT_EQ(bottleneck_in(facts).limit, Limit::ceiling);
}

// Twelve calls are allowed since a moment ago, and four were for most of the time.
TEST(Bottleneck, IsToldByTheCallsThatWereAllowedAtTheTime) {
  Snapshot now = second_of(
      {on_pool(worked("read", 395, 10 * kMs, 0), 12), with_calls(worked("decode", 395, 2 * kMs, 2 * kMs), 2)}, 395, 1);
  Facts facts = facts_of(now);
  facts.window.looks = hundred_looks(now, 0, &StageLooks::calls, 400);
  EXPECT_EQ(bottleneck_in(facts).limit, Limit::parallel);
}

// read ran ahead in this second: it could give four times what is delivered.
TEST(Bottleneck, IsNoStageThatRunsAhead) {
  const Snapshot now = second_of(
      {on_pool(worked("read", 800, 10 * kMs, 0), 8), with_calls(worked("decode", 200, 7 * kMs, 7 * kMs), 2)}, 200, 1);
  EXPECT_EQ(bottleneck_in(now).limit, Limit::cpu);
}

TEST(Bottleneck, IsMemoryWhereAStageMostlyWaitsForIt) {
  Snapshot now = second_of(
      {on_pool(worked("read", 80, 50 * kMs, 0), 8), with_calls(worked("decode", 80, 20 * kMs, 15 * kMs), 2)}, 80, 0.9);
  now.memory_used = 125 << 20;
  Facts facts = facts_of(now);
  facts.window.looks = hundred_looks(now, 0, &StageLooks::memory, 90);
  const auto found = bottleneck_in(facts);
  EXPECT_EQ(found.limit, Limit::memory);
  EXPECT_EQ(found.stage, 0);
  EXPECT_DOUBLE_EQ(found.use, 0.9);
}

// What reads ahead fills the memory; more of it would not make the cores faster.
TEST(Bottleneck, IsNotMemoryWhereTheCoresAreInUse) {
  Snapshot now = second_of(
      {on_pool(worked("read", 95, 50 * kMs, 0), 16), with_calls(worked("decode", 95, 20 * kMs, 20 * kMs), 2)}, 95, 0.9);
  Facts facts = facts_of(now);
  facts.window.looks = hundred_looks(now, 0, &StageLooks::memory, 100);
  EXPECT_EQ(bottleneck_in(facts).limit, Limit::cpu);
}

TEST(Bottleneck, IsMemoryWhereItKeepsTheCallsFew) {
  Facts facts = facts_of(slow_reads());
  facts.decisions = {
      {.stage = 0, .knob = "parallelism", .from = 1, .to = 2, .wanted = 24, .reason = Reason::byte_limit}};
  EXPECT_EQ(bottleneck_in(facts).limit, Limit::memory);
}

TEST(Bottleneck, IsTheOrderWhereTheSlowestCallHoldsUpTheOthers) {
  Snapshot now = second_of(
      {on_pool(worked("read", 2000, 5 * kMs, 0), 32), with_calls(worked("decode", 2000, kMs / 2, kMs / 2), 2)}, 2000,
      0.5);
  Facts facts = facts_of(now);
  facts.window.looks = hundred_looks(now, 0, &StageLooks::window, 80);
  const auto found = bottleneck_in(facts);
  EXPECT_EQ(found.limit, Limit::window);
  EXPECT_EQ(found.stage, 0);
}

// Free calls, and no dataset that they could read: how many take turns is the program's to say.
TEST(Bottleneck, IsTheNestWhoseOpenDatasetsAreTooFewForItsCalls) {
  Snapshot now = second_of(
      {on_pool(worked("files", 1220, 10 * kMs, 0), 29), with_calls(worked("decode", 1220, kMs, kMs), 2)}, 1220, 0.9);
  now.stages[0].cycle_length = 16;
  Facts facts = facts_of(now);
  facts.window.looks = hundred_looks(now, 0, &StageLooks::window, 90);
  const auto found = bottleneck_in(facts);
  EXPECT_EQ(found.limit, Limit::parallel);
  EXPECT_EQ(found.stage, 0);
  EXPECT_EQ(found.hold, Hold::user_limit);
}

TEST(Bottleneck, IsMemoryWhereThePolicySaysThatItBoundsTheCallsOrTheWindow) {
  Facts facts = facts_of(slow_reads());
  facts.limits = {{.calls = Hold::memory}};
  EXPECT_EQ(bottleneck_in(facts).limit, Limit::memory);
  EXPECT_EQ(bottleneck_in(facts).hold, Hold::memory);
  facts.limits = {{.calls = Hold::open_io}};
  EXPECT_EQ(bottleneck_in(facts).limit, Limit::parallel);
  EXPECT_EQ(bottleneck_in(facts).hold, Hold::open_io);
  Snapshot now = second_of({on_pool(worked("read", 2000, 5 * kMs, 0), 32)}, 2000, 0.5);
  facts = facts_of(now);
  facts.window.looks = hundred_looks(now, 0, &StageLooks::window, 80);
  facts.limits = {{.window = Hold::memory}};
  EXPECT_EQ(bottleneck_in(facts).limit, Limit::memory);
}

TEST(Bottleneck, IsTheOrderWhereTheWindowIsAsWideAsItMayBe) {
  Facts facts = facts_of(second_of({on_pool(worked("read", 2000, 5 * kMs, 0), 32)}, 2000, 0.5));
  facts.window.looks = hundred_looks(facts.window.now, 0, &StageLooks::window, 80);
  facts.limits = {{.window = Hold::knob_limit}};
  EXPECT_EQ(bottleneck_in(facts).limit, Limit::window);
  EXPECT_EQ(bottleneck_in(facts).hold, Hold::knob_limit);
}

TEST(Bottleneck, IsMemoryWhereALargerBufferWouldFindNone) {
  Snapshot now = second_of({with_calls(worked("work", 200, 4 * kMs, 4 * kMs), 2)}, 200, 0.4);
  now.consumer.full_ns = 550 * kMs;
  now.memory_used = now.memory_limit / 10 * 9;
  EXPECT_EQ(bottleneck_in(now).limit, Limit::memory);
  EXPECT_EQ(bottleneck_in(now).stage, 0);
}

TEST(Bottleneck, IsTheBufferBeforeAConsumerThatTakesManyAtOnce) {
  Snapshot now = second_of({with_calls(worked("work", 200, 4 * kMs, 4 * kMs), 2)}, 200, 0.4);
  now.consumer.full_ns = 550 * kMs;
  const auto found = bottleneck_in(now);
  EXPECT_EQ(found.limit, Limit::buffer);
  EXPECT_EQ(found.stage, -1);
}

TEST(Bottleneck, IsTheRoomBetweenTwoStagesThatWaitForEachOther) {
  Snapshot now = second_of(
      {in_turn(worked("bursts", 100, 5 * kMs, 5 * kMs)), in_turn(worked("bursts too", 100, 5 * kMs, 5 * kMs))}, 100, 1);
  now.stages[0].blocked_ns = 450 * kMs;
  now.stages[1].starved_ns = 480 * kMs;
  const auto found = bottleneck_in(now);
  EXPECT_EQ(found.limit, Limit::buffer);
  EXPECT_EQ(found.stage, 1);
}

TEST(Bottleneck, TellsWhatHoldsTheCallsOfAStage) {
  Facts facts = facts_of(slow_reads());
  facts.knobs = {calls_knob(0, 4096, false)};
  EXPECT_EQ(bottleneck_in(facts).hold, Hold::settling);
  facts.knobs[0].user_fixed = true;
  EXPECT_EQ(bottleneck_in(facts).hold, Hold::user_limit);
  facts.knobs[0] = calls_knob(0, 2, false);
  EXPECT_EQ(bottleneck_in(facts).hold, Hold::user_limit);
  facts.knobs.clear();
  facts.tuned = false;
  EXPECT_EQ(bottleneck_in(facts).hold, Hold::not_tuned);
  facts.window.now.open_io_limit = 2;
  EXPECT_EQ(bottleneck_in(facts).hold, Hold::open_io);
}

TEST(Bottleneck, OfASerialRunIsTheStageThatTakesMostOfTheThread) {
  Facts facts = facts_of(
      second_of({in_turn(worked("a", 100, 2 * kMs, 2 * kMs)), in_turn(worked("b", 100, 7 * kMs, 7 * kMs))}, 100, 0));
  facts.serial = true;
  EXPECT_EQ(bottleneck_in(facts).limit, Limit::serial);
  EXPECT_EQ(bottleneck_in(facts).stage, 1);
}

TEST(Bottleneck, IsUnknownBeforeAnythingHasRun) {
  EXPECT_EQ(bottleneck_in(Snapshot()).limit, Limit::unknown);
  Snapshot now = second_of({StageSnapshot{.name = "read"}}, 0, 1);
  EXPECT_EQ(bottleneck_in(now).limit, Limit::unknown);
}

// A first call of a minute has not ended yet, but it is under way.
TEST(Bottleneck, IsAStageWhoseFirstCallsHaveNotEnded) {
  Snapshot now = second_of({on_pool(StageSnapshot{.name = "read", .parallel = true, .slot_ns = 2 * kSecond}, 2)}, 0, 1);
  EXPECT_EQ(bottleneck_in(now).limit, Limit::parallel);
  EXPECT_EQ(bottleneck_in(now).stage, 0);
}

// ---------------------------------------------------------------------------------------------- threads of the user's
// functions

// Steps of 100 ms in which `decode` works now more, now less, and `read` the other way round; foreign threads go with
// decode.
Window steps_with_foreign_threads(double cores_per_element) {
  Window window;
  Snapshot now;
  now.cpu_budget = 2;
  now.stages = {StageSnapshot{.name = "read", .feeds = 1, .parallel = true},
                StageSnapshot{.name = "decode", .parallel = true}};
  now.process_cpu_ns = 5 * kSecond;  // of before the run
  now.workers_cpu_ns = now.consumer_cpu_ns = now.clocks_ns = 0;
  for (int i = 0; i < 9; ++i) {
    window.steps.push_back(std::make_shared<const Snapshot>(now));
    const std::int64_t decoded = 20 + 15 * (i % 3), read = 60 - 5 * (i % 2);
    now.time_ns += 100 * kMs;
    now.stages[0].completed += read;
    now.stages[1].completed += decoded;
    now.workers_cpu_ns += 50 * kMs;
    now.consumer_cpu_ns += kMs;
    now.clocks_ns += 100 * kMs;
    now.process_cpu_ns += 51 * kMs + static_cast<std::int64_t>(cores_per_element * static_cast<double>(decoded) * kMs);
  }
  window.before = *window.steps.front();
  window.now = now;
  return window;
}

TEST(ForeignCpu, IsChargedToTheStageThatGoesUpAndDownWithIt) {
  const Window window = steps_with_foreign_threads(2);
  const ForeignCpu found = foreign_cpu(window, rates_between(window.before, window.now));
  EXPECT_EQ(found.stage, 1);
  EXPECT_EQ(found.samples, 8);
  const double decoded = 3 * (20 + 35 + 50);
  EXPECT_NEAR(found.cores, decoded * 2 / 900, 1e-6);
}

TEST(ForeignCpu, IsNobodysWhereItIsTooLittle) {
  const Window window = steps_with_foreign_threads(0.1);
  EXPECT_EQ(foreign_cpu(window, rates_between(window.before, window.now)).stage, -1);
}

// Nothing goes up or down; but decode holds a core and waits.
TEST(ForeignCpu, IsPerhapsOfAStageThatWaitsWhileItShouldCompute) {
  Window window;
  window.now = second_of(
      {on_pool(worked("read", 100, 10 * kMs, 0), 8), with_calls(worked("decode", 100, 10 * kMs, kMs), 2)}, 100, 1);
  window.before = window.now;
  for (StageSnapshot& stage : window.before.stages) stage = {};
  window.before.time_ns = 0;
  window.before.process_cpu_ns = window.before.workers_cpu_ns = window.before.consumer_cpu_ns =
      window.before.clocks_ns = 0;
  window.now.process_cpu_ns = 1500 * kMs;
  window.now.workers_cpu_ns = 100 * kMs;
  window.now.consumer_cpu_ns = 0;
  window.now.clocks_ns = kSecond;
  const ForeignCpu found = foreign_cpu(window, rates_between(window.before, window.now));
  EXPECT_NEAR(found.cores, 1.4, 1e-6);
  EXPECT_EQ(found.stage, 1);
  EXPECT_EQ(found.samples, 0) << "only likely";
}

// A consumer that computes all the time, and nobody else: the process's clock was last read 90 ms before the snapshot
// was taken, and the consumer's own goes on.
TEST(ForeignCpu, IsOfTheMomentAtWhichTheClocksWereRead) {
  Window window;
  window.now = second_of({worked("read", 100, kMs, 0)}, 100, 0);
  window.before.process_cpu_ns = window.before.workers_cpu_ns = window.before.consumer_cpu_ns =
      window.before.clocks_ns = 0;
  window.now.clocks_ns = window.now.process_cpu_ns = window.now.consumer_cpu_ns = window.now.time_ns - 90 * kMs;
  window.now.workers_cpu_ns = 0;
  window.now.consumer.cpu_ns = window.now.time_ns;
  EXPECT_NEAR(foreign_cpu(window, rates_between(window.before, window.now)).cores, 0, 1e-9);
  window.now.process_cpu_ns = 2 * window.now.consumer_cpu_ns;  // and one more
  EXPECT_NEAR(foreign_cpu(window, rates_between(window.before, window.now)).cores, 1, 1e-9);
}

TEST(ForeignCpu, IsUnknownWhereTheProcesssClockWasNotRead) {
  EXPECT_TRUE(std::isnan(foreign_cpu({.before = {}, .now = slow_reads(), .looks = {}, .steps = {}}, {}).cores));
}

}  // namespace
}  // namespace penstock::autotune
