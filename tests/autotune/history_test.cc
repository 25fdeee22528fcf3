#include "autotune/history.h"

#include <gtest/gtest.h>

#include "tests/autotune/hand_made.h"

namespace penstock::autotune {
namespace {

Snapshot at(std::int64_t time_ns, std::int64_t taken) {
  Snapshot now;
  now.time_ns = time_ns;
  now.consumer.taken = taken;
  now.memory_used = 10;
  now.stages.resize(2);
  return now;
}

// Looks every 10 ms until `end`.
History watched(std::int64_t end, std::int64_t taken_per_second) {
  History history;
  for (std::int64_t time = 10 * kMs; time <= end; time += 10 * kMs)
    history.look(at(time, taken_per_second * time / kSecond));
  return history;
}

TEST(History, ExplainsTheRunFromItsStartAtFirst) {
  const Window window = watched(200 * kMs, 1000).recent(at(210 * kMs, 210));
  EXPECT_EQ(window.before.time_ns, 0);
  EXPECT_EQ(window.now.time_ns, 210 * kMs);
  EXPECT_EQ(window.looks.count, 20);
}

TEST(History, OfAFastPipelineIsHalfASecondLong) {
  const Window window = watched(10 * kSecond, 1000).recent(at(10 * kSecond, 10'000));
  const std::int64_t age = window.now.time_ns - window.before.time_ns;
  EXPECT_GE(age, 500 * kMs);
  EXPECT_LE(age, 760 * kMs);
  EXPECT_NEAR(static_cast<double>(window.looks.count), static_cast<double>(age) / (10 * kMs), 1.1);
}

TEST(History, OfASlowPipelineIsLonger) {
  const Window window = watched(10 * kSecond, 3).recent(at(10 * kSecond, 30));
  const std::int64_t age = window.now.time_ns - window.before.time_ns;
  EXPECT_GE(age, 2 * kSecond);
  EXPECT_LE(age, 2300 * kMs);
}

TEST(History, ForgetsWhatIsOlderThanSomeSeconds) {
  const Window window = watched(60 * kSecond, 0).recent(at(60 * kSecond, 0));
  EXPECT_GE(window.before.time_ns, 55 * kSecond);
  EXPECT_LE(window.steps.size(), 16u);
}

TEST(History, OfTheWholeRunHasAllLooks) {
  const Window window = watched(60 * kSecond, 10).whole(at(61 * kSecond, 600));
  EXPECT_EQ(window.before.time_ns, 0);
  EXPECT_EQ(window.looks.count, 6000);
  EXPECT_EQ(window.looks.memory, 60'000);
}

TEST(History, WithoutALookIsTheWholeRun) {
  const Window window = History().recent(at(kSecond, 5));
  EXPECT_EQ(window.before.time_ns, 0);
  EXPECT_EQ(window.looks.count, 0);
}

StageSnapshot held_up() {
  StageSnapshot stage;
  stage.parallel = true;
  stage.parallelism = 8;
  stage.window = stage.in_window = 16;
  stage.running = 1;
  stage.credits = 5;
  return stage;
}

std::int64_t window_looks(const StageSnapshot& stage) {
  Snapshot now;
  now.stages = {stage};
  Looks looks;
  looks.add(now);
  return looks.stages[0].window;
}

TEST(Looks, TellWhetherTheOrderHoldsAStageUp) { EXPECT_EQ(window_looks(held_up()), 1); }

TEST(Looks, TellWhetherANestHasNoDatasetForItsCalls) {
  StageSnapshot nest = held_up();
  nest.ordered = false;
  nest.cycle_length = 4;
  EXPECT_EQ(window_looks(nest), 1);
}

TEST(Looks, DoNotBlameTheOrderForWhatSomethingElseDoes) {
  const auto with = [](auto change) {
    StageSnapshot stage = held_up();
    change(stage);
    return window_looks(stage);
  };
  EXPECT_EQ(with([](StageSnapshot& stage) { stage.ordered = false; }), 0);
  EXPECT_EQ(with([](StageSnapshot& stage) { stage.credits = 0; }), 0) << "the next stage has no room";
  EXPECT_EQ(with([](StageSnapshot& stage) { stage.running = 8; }), 0) << "all calls are under way";
  EXPECT_EQ(with([](StageSnapshot& stage) { stage.ready = 1; }), 0) << "elements wait for a permit";
  EXPECT_EQ(with([](StageSnapshot& stage) { stage.in_window = 15; }), 0) << "one more may start";
}

// Ten seconds without a slow call, and two that are held up behind one.
TEST(History, TellsThatTheOrderHasHeldAStageUpInTheLastSeconds) {
  History history = watched(10 * kSecond, 1000);
  Snapshot now = at(10 * kSecond, 10'000);
  now.stages = {held_up()};
  for (int i = 0; i < 200; ++i) {
    now.time_ns += 10 * kMs;
    now.consumer.taken += 10;
    history.look(now);
  }
  const Looks looks = history.recent(now).looks;
  ASSERT_GT(looks.count, 0);
  EXPECT_EQ(looks.stages.at(0).window, looks.count);
}

TEST(Looks, CountHowOftenAStageWaitsForMemory) {
  Snapshot now = at(kSecond, 0);
  Looks looks;
  looks.add(now);
  now.stages[1].waits_for_memory = true;
  looks.add(now);
  looks.add(now);
  EXPECT_EQ(looks.count, 3);
  EXPECT_EQ(looks.stages[0].memory, 0);
  EXPECT_EQ(looks.stages[1].memory, 2);
}

}  // namespace
}  // namespace penstock::autotune
