// How far ahead work goes: the window of a stage, and what waits for the consumer.
#include <memory>

#include "tests/engine/take.h"

namespace penstock {
namespace {

using namespace testing;

// Dear calls only: the window of cheap ones is widened to a step's worth of work.
TEST(Window, BoundsHowFarAheadOfTheOldestCallOthersStart) {
  std::atomic<bool> open{true};
  CallCounter counter;
  auto gate = [&](std::int64_t value) {
    counter.enter();
    std::this_thread::sleep_for(1ms);
    while (value == 40 && !open) std::this_thread::sleep_for(1ms);
    counter.leave();
    return value;
  };
  auto run = range(200).map(gate, 4, {.blocks = true}).start({.tune = false});
  take(run, 30);
  knob_of(run, "window", 1).set(9);
  open = false;
  take(run, 10);
  EXPECT_TRUE(eventually([&] { return counter.calls() == 40 + 9 && counter.running() == 1; }));
  EXPECT_TRUE(run.next_for(20ms).timed_out());
  EXPECT_EQ(counter.calls(), 40 + 9);
  open = true;
  EXPECT_EQ(rest_of(run), numbers(40, 200));
}

// Dear elements only, as above.
TEST(Prefetch, BoundsWhatWaitsForTheConsumer) {
  CallCounter counter;
  auto run = range(10'000).map(counted_sleep(counter, 2ms), 8, {.blocks = true}).start({.tune = false});
  Knob prefetch = knob_of(run, "prefetch", -1);
  for (std::int64_t depth : {20, 3, 1}) {
    prefetch.set(depth);
    take(run, 30);  // more than waited under the depth before
    ASSERT_TRUE(eventually([&] { return run.snapshot().consumer.ready > depth / 2; }));
    for (int i = 0; i < 20; ++i) {
      EXPECT_LE(run.snapshot().consumer.ready, depth);
      std::this_thread::sleep_for(200us);
    }
  }
  const std::int64_t taken = 91;
  run.next();
  const auto window = run.snapshot().stages[1].window;
  EXPECT_LE(counter.calls(), taken + 1 + window);
}

TEST(Prefetch, OfTheUserIsTheDepthFromTheStart) {
  auto run = range(1000).map(plus_one).prefetch(17).start({.tune = false});
  run.next();
  EXPECT_EQ(run.snapshot().consumer.prefetch, 17);
  ASSERT_TRUE(eventually([&] { return run.snapshot().consumer.ready >= 16; }));
  EXPECT_LE(run.snapshot().consumer.ready, 17);
}

TEST(Prefetch, BeginsAndStaysWithinTheBoundsThatTheUserGave) {
  for (const Tunable asked : {Tunable::between(1, 1), Tunable::between(4, 6)}) {
    auto run = range(100'000).map(plus_one).prefetch(asked).start();
    Knob prefetch = knob_of(run, "prefetch", -1);
    EXPECT_EQ(prefetch.get(), asked.low());
    for (int i = 0; i < 20'000; ++i) {
      run.next();
      ASSERT_LE(run.snapshot().consumer.ready, asked.high());
    }
    EXPECT_GE(prefetch.get(), asked.low());
    EXPECT_LE(prefetch.get(), asked.high());
  }
}

// Results of cheap functions, which are run many at a time where nothing is said: each lives until the consumer drops
// it.
class Results {
 public:
  std::shared_ptr<std::int64_t> operator()(std::int64_t value) {
    const std::int64_t now = ++alive_;
    for (std::int64_t most = most_; now > most && !most_.compare_exchange_weak(most, now);) {
    }
    return {new std::int64_t(value),
            [this](std::int64_t* result) { give_back(std::unique_ptr<std::int64_t>(result)); }};
  }
  std::int64_t most() const { return most_; }

 private:
  void give_back(std::unique_ptr<std::int64_t>) { --alive_; }

  std::atomic<std::int64_t> alive_{0}, most_{0};
};

// As dataset.h says ("Lifetime"): as many in the step, or its window where calls pass each other, and as many behind
// it.
TEST(Prefetch, OfTheUserBoundsHowManyResultsOfACheapFunctionThereAre) {
  for (const bool tune : {false, true}) {
    for (const std::int64_t calls : {1, 3}) {
      for (const std::int64_t size : {1, 2, 8, 64}) {
        Results results;
        auto run = range(3'000)
                       .map([&](std::int64_t value) { return results(value); }, calls)
                       .prefetch(size)
                       .start({.tune = tune});
        std::int64_t count = 0;
        while (auto result = run.next()) EXPECT_EQ(**result, count++);
        EXPECT_EQ(count, 3'000);
        EXPECT_LE(results.most(), std::max(size, calls > 1 ? 2 * calls : 1) + size + 1)
            << calls << " calls, prefetch(" << size << ")";
      }
    }
  }
}

// Between two maps, too. The second lets go of what it gets, has a window of 2 calls, and room for as many as wait.
TEST(Prefetch, OfTheUserBetweenTwoMapsBoundsWhatWaitsThere) {
  for (const std::int64_t size : {2, 16}) {
    Results results;
    const auto drop = [](std::shared_ptr<std::int64_t> result) { return *result; };
    auto run = range(20'000)
                   .map([&](std::int64_t value) { return results(value); }, 1)
                   .prefetch(size)
                   .map(drop, 1)
                   .start({.tune = false});
    std::int64_t count = 0;
    while (run.next()) ++count;
    EXPECT_EQ(count, 20'000);
    EXPECT_LE(results.most(), 3 * size + 3);
  }
}

}  // namespace
}  // namespace penstock
