// run.explain(): from real runs, at any moment and from any thread. What it concludes is tested in ../autotune.
#include <atomic>
#include <cmath>
#include <latch>
#include <thread>

#include "lib/core/clock.h"
#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

std::int64_t nap(std::int64_t value) {
  std::this_thread::sleep_for(20ms);
  return value;
}

Dataset<std::int64_t> two_naps_at_once(std::int64_t count) {
  return range(count).map(nap, 2, {.blocks = true}).map(plus_one);
}

TEST(ExplainRun, KnowsNothingBeforeTheFirstRequest) {
  const auto run = two_naps_at_once(4).start();
  EXPECT_EQ(run.explain().bottleneck.limit, Limit::unknown);
  EXPECT_TRUE(run.explain().stages.empty());
}

// Both calls wait until the explanation is there, however busy the machine is: no thread of the run needs a core
// meanwhile.
TEST(ExplainRun, NamesTheStageThatTheUserHeldBack) {
  std::latch explained(1);
  std::atomic<int> under_way{0};
  const auto wait = [&](std::int64_t value) {
    ++under_way;
    explained.wait();
    return value;
  };
  auto run = range(4).map(wait, 2, {.blocks = true}).map(plus_one).start();
  std::jthread consumer([&] { EXPECT_EQ(rest_of(run).size(), 4u); });
  EXPECT_TRUE(eventually([&] { return under_way == 2; }));
  std::this_thread::sleep_for(200ms);
  const Explanation found = run.explain();
  explained.count_down();
  EXPECT_EQ(found.bottleneck.limit, Limit::parallel) << to_text(found);
  EXPECT_EQ(found.bottleneck.stage, 1) << to_text(found);
  EXPECT_EQ(found.bottleneck.hold, Hold::user_limit) << to_text(found);
}

TEST(ExplainRun, IsAboutAllOfARunThatHasEndedHoweverLongAgo) {
  auto run = two_naps_at_once(6).start();
  rest_of(run);
  const Explanation then = run.explain();
  std::this_thread::sleep_for(50ms);
  const Explanation later = run.explain();
  EXPECT_EQ(then.delivered.samples, 6);
  EXPECT_EQ(later.time, then.time);
  EXPECT_EQ(later.looks, then.looks);
}

TEST(ExplainRun, GoesOnWithTheNextEpoch) {
  auto run = two_naps_at_once(4).start();
  rest_of(run);
  const double first = run.explain().time;
  run.epoch(1);
  run.next();
  const Explanation found = run.explain();
  EXPECT_GT(found.time, first);
  EXPECT_GE(found.delivered.samples, 1);
}

// Two give in turn, and at most four more are opened ahead; the latch holds their elements back.
TEST(ExplainRun, CountsTheDatasetsOfAnInterleave) {
  std::latch explained(1);
  const auto numbers = [&explained](std::int64_t x) {
    return range(x + 1).map([&explained](std::int64_t y) {
      explained.wait();
      return y;
    });
  };
  auto run = range(20).interleave(numbers, {.cycle_length = 2, .parallelism = 2, .blocks = true}).start();
  std::jthread consumer([&] { EXPECT_EQ(rest_of(run).size(), 210u); });
  EXPECT_TRUE(eventually([&] { return run.snapshot().stages.size() == 2 && run.snapshot().stages[1].running == 2; }));
  const StageSnapshot held_up = run.snapshot().stages[1];
  explained.count_down();
  EXPECT_EQ(held_up.cycle_length, 2);
  EXPECT_LE(held_up.datasets_open, 6);
  consumer.join();
  const Explanation found = run.explain();
  EXPECT_EQ(found.stages[0].cycle_length, 0);
  EXPECT_EQ(found.stages[1].datasets_open, 0) << to_text(found);
  EXPECT_EQ(found.stages[1].datasets_opened, 20) << to_text(found);
  EXPECT_GT(found.stages[1].opening, 0);
  EXPECT_LT(found.stages[1].opening, 1);
  EXPECT_THAT(to_text(found), ::testing::HasSubstr("interleave (op 1): 2 datasets give in turn, 0 are open, 20 were "
                                                   "opened so far; opening takes "));
}

TEST(ExplainRun, SaysThatARunIsSerial) {
  auto run = two_naps_at_once(3).start({.serial = true});
  rest_of(run);
  const Explanation found = run.explain();
  EXPECT_TRUE(found.serial);
  EXPECT_EQ(found.bottleneck.limit, Limit::serial);
  EXPECT_EQ(found.bottleneck.stage, 1);
  EXPECT_THAT(to_text(found), ::testing::HasSubstr("RunOptions::serial"));
}

TEST(ExplainRun, SaysThatARunIsSerialBecauseItWasBegunInsideAnother) {
  auto outer = range(1).map([](std::int64_t) {
    auto inner = two_naps_at_once(3).start();
    rest_of(inner);
    EXPECT_TRUE(inner.explain().serial);
    EXPECT_TRUE(inner.explain().inside_another_run);
    return to_text(inner.explain());
  });
  const std::string text = *outer.start().next();
  EXPECT_THAT(text, ::testing::HasSubstr("begun inside a function of another run"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("RunOptions::serial")));
}

TEST(ExplainRun, SaysThatNothingIsTuned) {
  auto run = range(30).map(nap, AUTOTUNE, {.blocks = true}).start({.tune = false});
  rest_of(run);
  EXPECT_EQ(run.explain().bottleneck.hold, Hold::not_tuned) << to_text(run.explain());
}

std::int64_t with_a_thread(std::int64_t value) {
  std::jthread([] {
    const std::int64_t end = thread_cpu_ns() + 10'000'000;
    while (thread_cpu_ns() < end) {
    }
  }).join();
  return value;
}

TEST(ExplainRun, WarnsOfThreadsThatAFunctionStarts) {
  auto run = range(150).map(with_a_thread, 2).start();
  rest_of(run);
  const Explanation found = run.explain();
  const auto is_it = [](const Explanation::Warning& each) {
    return each.problem == Explanation::Problem::foreign_threads;
  };
  const auto warning = std::ranges::find_if(found.warnings, is_it);
  ASSERT_NE(warning, found.warnings.end()) << to_text(found);
  EXPECT_EQ(warning->stage, 1) << to_text(found);
  EXPECT_GT(warning->amount, 0.1);
}

TEST(ExplainRun, MayBeAskedByAnyThreadMeanwhile) {
  auto run = range(3'000).map(plus_one).map(plus_one).start();
  std::atomic<bool> done{false};
  std::atomic<std::int64_t> wrong{0};
  std::vector<std::jthread> askers;
  for (int i = 0; i < 3; ++i) {
    askers.emplace_back([&] {
      while (!done) {
        const Explanation found = run.explain();
        const bool fits = found.stages.empty() || found.stages.size() == 3;
        wrong += !fits || found.delivered.samples > 3'000 || to_text(found).empty() || to_json(found).empty();
      }
    });
  }
  EXPECT_EQ(rest_of(run).size(), 3'000u);
  done = true;
  askers.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace penstock
