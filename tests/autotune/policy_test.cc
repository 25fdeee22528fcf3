// What all policies have in common: names, bounds, the log.
#include "autotune/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <penstock/service_times.h>

namespace penstock::autotune {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;

// A stage that waits, whose calls are all under way, and a consumer that waits, too.
class Pipeline {
 public:
  explicit Pipeline(bool user_fixed) {
    now_.stages.resize(1);
    StageSnapshot& stage = now_.stages[0];
    stage.parallel = stage.on_pool = stage.form_is_known = true;
    stage.parallelism = stage.running = 4;
    now_.memory_limit = std::int64_t{1} << 30;
    Knob knob;
    knob.kind = KnobKind::parallelism;
    knob.stage = 0;
    knob.low = 2;
    knob.high = 48;
    knob.user_fixed = user_fixed;
    knob.get = [this] { return now_.stages[0].parallelism; };
    knob.set = [this](std::int64_t to) { now_.stages[0].parallelism = now_.stages[0].running = to; };
    knobs_.push_back(knob);
  }

  void tick(Policy& policy) {
    now_.time_ns += 10'000'000;
    now_.consumer.wait_ns += 10'000'000;
    now_.consumer.waiting = true;
    policy.tick(now_, knobs_);
  }
  std::int64_t calls() const { return now_.stages[0].parallelism; }

 private:
  Snapshot now_;
  std::vector<Knob> knobs_;
};

// Stages whose calls wait, with numbers of calls, and on the pool or not yet found to wait.
class Waiting {
 public:
  Waiting(const std::vector<std::int64_t>& calls, bool on_pool, std::int64_t open_io) {
    now_.stages.resize(calls.size());
    now_.memory_limit = std::int64_t{1} << 30;
    now_.open_io_limit = open_io;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      StageSnapshot& stage = now_.stages[i];
      stage.parallel = true;
      stage.on_pool = stage.form_is_known = on_pool;
      stage.parallelism = stage.running = calls[i];
      stage.feeds = i + 1 < calls.size() ? static_cast<int>(i) + 1 : -1;
      add(
          KnobKind::parallelism, i, 4096, [&stage] { return stage.parallelism; },
          [&stage](std::int64_t to) { stage.parallelism = to; });
      add(
          KnobKind::window, i, 1 << 20, [&stage] { return stage.window; },
          [&stage](std::int64_t to) { stage.window = to; });
      const auto move_to = [&stage](std::int64_t to) { stage.on_pool = to > 0; };
      add(
          KnobKind::placement, i, 1, [&stage] { return std::int64_t{stage.on_pool}; }, move_to);
    }
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  void tick(Policy& policy) {
    now_.time_ns += 10'000'000;
    policy.tick(Snapshot(now_), knobs_);
  }
  // Calls of every stage have been seen to give the CPU up.
  void show_that_they_wait() {
    for (StageSnapshot& stage : now_.stages) {
      stage.samples = stage.completed = stage.made = 4;
      stage.sampled_wall_ns = stage.sampled_waiting_ns = stage.slot_ns = 40'000'000;
    }
  }
  std::vector<std::int64_t> calls() const {
    std::vector<std::int64_t> all;
    for (const StageSnapshot& stage : now_.stages) all.push_back(stage.parallelism);
    return all;
  }
  std::vector<std::int64_t> windows() const {
    std::vector<std::int64_t> all;
    for (const StageSnapshot& stage : now_.stages) all.push_back(stage.window);
    return all;
  }
  std::int64_t all_calls() const {
    std::int64_t sum = 0;
    for (const StageSnapshot& stage : now_.stages) sum += stage.parallelism;
    return sum;
  }
  std::vector<bool> on_pool() const {
    std::vector<bool> all;
    for (const StageSnapshot& stage : now_.stages) all.push_back(stage.on_pool);
    return all;
  }
  // And each stage has made some results of a byte.
  void limit_memory(std::int64_t bytes) {
    now_.memory_limit = bytes;
    for (StageSnapshot& stage : now_.stages) stage.made = stage.bytes_out = 4;
  }
  void keep_running(std::size_t stage, std::int64_t calls) { now_.stages[stage].running = calls; }
  void let_calls_end() {
    for (StageSnapshot& stage : now_.stages) stage.running = std::min(stage.running, stage.parallelism);
  }
  std::vector<Knob>& knobs() { return knobs_; }

 private:
  template <class Get, class Set> void add(KnobKind kind, std::size_t stage, std::int64_t high, Get get, Set set) {
    Knob knob;
    knob.kind = kind;
    knob.stage = static_cast<int>(stage);
    knob.low = kind == KnobKind::parallelism;
    knob.high = high;
    knob.get = get;
    knob.set = set;
    knobs_.push_back(knob);
  }

  Snapshot now_;
  std::vector<Knob> knobs_;
};

TEST(Policies, AreMadeByName) {
  for (const char* name : {"penstock", "cores", "tf-max10", "tf-hill", "static:7", "none"})
    EXPECT_NE(make_policy(name), nullptr) << name;
  for (const char* name : {"", "static", "static:", "static:0", "static:-1", "static:7x", "Penstock"})
    EXPECT_EQ(make_policy(name), nullptr) << name;
}

TEST(Policies, NeverMoveWhatTheUserHasFixed) {
  for (const char* name : {"penstock", "cores", "tf-max10", "tf-hill", "static:7"}) {
    Pipeline pipeline(true);
    const auto policy = make_policy(name);
    for (int i = 0; i < 100; ++i) pipeline.tick(*policy);
    EXPECT_EQ(pipeline.calls(), 4) << name;
    EXPECT_EQ(policy->log().count(), 0) << name;
  }
}

TEST(Policies, StayWithinTheUsersBounds) {
  Pipeline low(false), high(false);
  const auto one = make_policy("static:1"), many = make_policy("static:1000");
  low.tick(*one);
  high.tick(*many);
  EXPECT_EQ(low.calls(), 2);
  EXPECT_EQ(high.calls(), 48);
}

TEST(Policies, StaticSetsWhatItsNameSays) {
  Pipeline pipeline(false);
  const auto policy = make_policy("static:9");
  pipeline.tick(*policy);
  EXPECT_EQ(pipeline.calls(), 9);
}

TEST(Policies, AreCalmTwoSecondsAfterTheLastMove) {
  constexpr std::int64_t second = 1'000'000'000;
  Pipeline pipeline(false);
  const auto policy = make_policy("static:9");
  EXPECT_FALSE(policy->is_calm(second)) << "a run that has just begun";
  EXPECT_TRUE(policy->is_calm(3 * second));
  for (int i = 0; i < 100; ++i) pipeline.tick(*make_policy("none"));
  pipeline.tick(*policy);  // moves at 1.01 s
  EXPECT_FALSE(policy->is_calm(3 * second));
  EXPECT_TRUE(policy->is_calm(4 * second));
}

TEST(Policies, LogEachMoveWithItsReason) {
  Pipeline pipeline(false);
  const auto policy = make_policy("penstock");
  pipeline.tick(*policy);
  pipeline.tick(*policy);
  ASSERT_EQ(policy->log().count(), 2);
  const Decision& first = policy->log().last().front();
  EXPECT_EQ(first.stage, 0);
  EXPECT_EQ(first.knob, "parallelism");
  EXPECT_EQ(first.from, 4);
  EXPECT_EQ(first.to, 8);
  EXPECT_EQ(first.reason, Reason::slow_start);
  EXPECT_EQ(first.time_ns, 10'000'000);
  EXPECT_EQ(policy->log().last().back().from, 8);
}

TEST(PenstockPolicy, TakesCallsBackThatOpenIoForbidsBeforeAnyHasFinished) {
  Waiting stages({100}, true, 8);
  const auto policy = make_policy("penstock");
  stages.tick(*policy);
  EXPECT_THAT(stages.calls(), ElementsAre(8));
}

// But for one thread for each.
TEST(PenstockPolicy, GivesStagesThatGoToThePoolAtOnceNoMoreThanOpenIoTogether) {
  Waiting stages({8, 8, 8}, false, 10);
  const auto policy = make_policy("penstock");
  stages.show_that_they_wait();
  stages.tick(*policy);
  EXPECT_THAT(stages.calls(), ElementsAre(8, 2, 1));
  EXPECT_THAT(stages.on_pool(), ElementsAre(true, true, true));
}

TEST(PenstockPolicy, GivesAStageItsFirstThreadAsSoonAsOthersHaveGivenOneBack) {
  Waiting stages({8, 8, 8}, false, 10);
  const auto policy = make_policy("penstock");
  stages.show_that_they_wait();
  for (int i = 0; i < 3; ++i) {
    stages.tick(*policy);
    stages.let_calls_end();
  }
  EXPECT_THAT(stages.on_pool(), Each(true));
  EXPECT_THAT(stages.calls(), Each(Ge(1)));
  EXPECT_LE(stages.all_calls(), 10);
}

TEST(PenstockPolicy, CountsWithAMemoryWithoutLimit) {
  Waiting stages({4, 4}, true, 64);
  stages.limit_memory(std::numeric_limits<std::int64_t>::max());
  const auto policy = make_policy("penstock");
  stages.tick(*policy);
  EXPECT_THAT(stages.windows(), Each(Ge(8))) << "twice the calls, where nothing is scarce";
}

TEST(PenstockPolicy, HandsAThreadOutOnceOnly) {
  Waiting stages({10, 4, 4}, true, 64);
  const auto policy = make_policy("penstock");
  stages.keep_running(0, 50);
  stages.tick(*policy);
  EXPECT_THAT(stages.calls(), ElementsAre(20, 8, 6))
      << "50 are still under way; of the 6 that are free the second stage takes 4";
}

TEST(PenstockPolicy, DividesWhatIsLeftOfOpenIoWhereThereIsLess) {
  Waiting stages({80, 80, 80}, true, 120);
  const auto policy = make_policy("penstock");
  stages.tick(*policy);
  EXPECT_THAT(stages.calls(), ElementsAre(40, 40, 40));
}

TEST(PenstockPolicy, LeavesRememberedCallsThatFitUntilItKnowsBetter) {
  Waiting stages({56, 8}, true, 64);
  const auto policy = make_policy("penstock");
  stages.tick(*policy);
  EXPECT_THAT(stages.calls(), ElementsAre(56, 8));
}

// A stage whose answers come from elsewhere, 20 ms after they were asked for, however many are.
class Service {
 public:
  explicit Service(std::int64_t open_io) {
    now_.stages.resize(1);
    now_.memory_limit = std::int64_t{1} << 40;
    now_.open_io_limit = open_io;
    stage().parallel = stage().completes_later = stage().form_is_known = true;
    stage().parallelism = stage().running = std::min<std::int64_t>(4, open_io);
    stage().window = 8;
    add(
        KnobKind::parallelism, 1, [this] { return stage().parallelism; },
        [this](std::int64_t to) { stage().parallelism = stage().running = to; });
    add(
        KnobKind::window, 1, [this] { return stage().window; }, [this](std::int64_t to) { stage().window = to; });
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Gives the number of calls at each tick. Each makes a result of so many bytes.
  std::vector<std::int64_t> run(Policy& policy, int ticks, std::int64_t bytes = 1) {
    std::vector<std::int64_t> calls;
    for (int i = 0; i < ticks; ++i) {
      const std::int64_t ended = i % 2 == 0 ? 0 : stage().running;
      now_.time_ns += kTick;
      stage().completed += ended;
      stage().made += ended;
      stage().bytes_out += ended * bytes;
      stage().slot_ns += stage().running * kTick;
      stage().samples += ended;
      stage().sampled_elements += ended;
      stage().sampled_wall_ns += ended * 2 * kTick;
      stage().sampled_cpu_ns += ended * 1000;
      stage().service_times[service_time_bucket(2 * kTick)] += ended;
      now_.consumer.taken += ended;
      now_.consumer.wait_ns += kTick;
      stage().in_window = std::min(stage().window, stage().running);
      policy.tick(Snapshot(now_), knobs_);
      calls.push_back(stage().parallelism);
    }
    return calls;
  }
  // All but one call have ended, and their results wait for that one.
  void hold_up(Policy& policy, int ticks, std::int64_t bytes) {
    stage().running = 1;
    for (int i = 0; i < ticks; ++i) {
      now_.time_ns += kTick;
      now_.consumer.wait_ns += kTick;
      now_.consumer.waiting = true;
      stage().slot_ns += kTick;
      stage().in_window = stage().window;
      stage().credits = 100;
      stage().bytes_held = bytes * stage().window;
      policy.tick(Snapshot(now_), knobs_);
    }
  }
  StageSnapshot& stage() { return now_.stages[0]; }

 private:
  static constexpr std::int64_t kTick = 10'000'000;
  template <class Get, class Set> void add(KnobKind kind, std::int64_t low, Get get, Set set) {
    Knob knob;
    knob.kind = kind;
    knob.stage = 0;
    knob.low = low;
    knob.high = 4096;
    knob.get = get;
    knob.set = set;
    knobs_.push_back(knob);
  }

  Snapshot now_;
  std::vector<Knob> knobs_;
};

TEST(PenstockPolicy, BeginsWithinOpenIoWhereCallsCompleteLaterAndGoesOnByDoubling) {
  for (const std::int64_t open_io : {1, 3, 8, 64}) {
    Service service(open_io);
    const auto policy = make_policy("penstock");
    std::int64_t before = std::min<std::int64_t>(4, open_io);
    std::int64_t largest = before;
    for (const std::int64_t calls : service.run(*policy, 500)) {
      EXPECT_LE(calls, std::max(open_io, 2 * largest)) << open_io;
      largest = std::max(largest, calls);
    }
    EXPECT_GT(largest, 2 * open_io) << "more has been of use";
  }
}

// Its results may wait for a slow one as long as they like: there is memory, but a window has its end.
TEST(PenstockPolicy, DoesNotTakeTheEndOfAWindowForWantOfMemory) {
  // 4,096 of these fit, 10,995 do; a window that grows in each stall asks for more
  constexpr std::int64_t bytes = 100'000'000;
  Service service(64);
  const auto policy = make_policy("penstock");
  service.run(*policy, 300, bytes);
  for (int i = 0; i < 40; ++i) {
    service.hold_up(*policy, 100, bytes);
    service.run(*policy, 20, bytes);
  }
  service.hold_up(*policy, 10, bytes);
  ASSERT_EQ(service.stage().window, 4096);
  EXPECT_EQ(policy->limits()[0].window, Hold::knob_limit);
}

TEST(WarmStart, GivesStagesThatWaitNoMoreThanOpenIoTogether) {
  Waiting stages({4, 4, 4}, true, 64);
  const auto policy = make_policy("penstock");
  policy->begin_at({{0, "parallelism", 40}, {1, "parallelism", 40}, {2, "parallelism", 40}}, stages.knobs(), 64);
  EXPECT_THAT(stages.calls(), ElementsAre(40, 24, 1));
}

// What a stage was to get, and may not have, is there for others.
TEST(WarmStart, CountsTheThreadsThatAStageHasAndNotThoseThatAreRemembered) {
  Waiting stages({2, 2}, true, 32);
  stages.knobs()[0].high = 2;
  const auto policy = make_policy("penstock");
  policy->begin_at({{0, "parallelism", 30}, {1, "parallelism", 30}}, stages.knobs(), 32);
  EXPECT_THAT(stages.calls(), ElementsAre(2, 30));
}

TEST(WarmStart, LeavesStagesThatComputeAsManyCallsAsTheyHad) {
  Waiting stages({4}, false, 2);
  const auto policy = make_policy("penstock");
  policy->begin_at({{0, "parallelism", 96}}, stages.knobs(), 2);
  EXPECT_THAT(stages.calls(), ElementsAre(96));
}

TEST(DecisionLog, KeepsTheLastAndCountsAll) {
  DecisionLog log;
  const auto kept = static_cast<std::int64_t>(DecisionLog::kKept);
  for (std::int64_t i = 0; i < kept + 10; ++i) log.add({.time_ns = i, .knob = "prefetch"});
  EXPECT_EQ(log.count(), kept + 10);
  EXPECT_EQ(log.last().size(), DecisionLog::kKept);
  EXPECT_EQ(log.last().front().time_ns, 10);
}

TEST(Reason, HasANameForEach) {
  for (int i = 0; i <= static_cast<int>(Reason::rule); ++i)
    EXPECT_STRNE(name_of(static_cast<Reason>(i)), "unknown") << i;
}

}  // namespace
}  // namespace penstock::autotune
