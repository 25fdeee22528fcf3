// The consumer's side of a run: its end, time limits, wrong places to ask from, several runs at once.
#include <memory>
#include <optional>

#include "tests/engine/support.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using namespace testing;

TEST(Iterating, SaysEndAgainAfterTheEnd) {
  auto run = range(3).map(plus_one).start();
  EXPECT_EQ(rest_of(run), numbers(1, 4));
  EXPECT_FALSE(run.next().has_value());
  EXPECT_FALSE(run.next().has_value());
  EXPECT_TRUE(run.next_for(1ms).at_end());
}

TEST(Iterating, OfNothingEndsAtOnce) {
  auto run = range(0).map(plus_one).batch(4).start();
  EXPECT_FALSE(run.next().has_value());
  EXPECT_FALSE(run.next().has_value());
}

TEST(Iterating, ByNextForTimesOutAndGoesOn) {
  std::atomic<bool> open{false};
  auto run = range(2)
                 .map(
                     [&open](std::int64_t value) {
                       while (!open) std::this_thread::sleep_for(1ms);
                       return value;
                     },
                     2, {.blocks = true})
                 .start();
  const auto nothing = run.next_for(20ms);
  EXPECT_TRUE(nothing.timed_out());
  EXPECT_FALSE(nothing.is_element());
  EXPECT_FALSE(nothing.at_end());
  open = true;
  const auto first = run.next_for(kPatience);
  ASSERT_TRUE(first.is_element());
  EXPECT_EQ(*first.value, 0);
  EXPECT_EQ(rest_of(run), Texts{"1"});
}

TEST(Iterating, ByNextForWithNoPatienceGivesWhatIsReady) {
  auto run = range(1).start();
  ASSERT_TRUE(eventually([&] { return run.snapshot().consumer.ready > 0 || run.next_for(0ms).is_element(); }));
}

TEST(Iterating, ByNextForWithMorePatienceThanAClockCountsWaitsForTheElement) {
  const auto slow = [](std::int64_t value) {
    std::this_thread::sleep_for(20ms);
    return value;
  };
  for (bool serial : {false, true}) {
    auto run = range(3).map(slow, 1, {.blocks = true}).start({.serial = serial});
    EXPECT_EQ(run.next_for(std::chrono::hours::max()).value, 0) << "serial: " << serial;
    EXPECT_EQ(run.next_for(std::chrono::nanoseconds::max()).value, 1) << "serial: " << serial;
    EXPECT_EQ(run.next_for(std::chrono::duration<double>(1e300)).value, 2) << "serial: " << serial;
    EXPECT_TRUE(run.next_for(std::chrono::hours::max()).at_end()) << "serial: " << serial;
  }
}

TEST(Iterating, ByNextForWithLessThanNoPatienceTimesOut) {
  std::atomic<bool> open{false};
  const auto waits = [&open](std::int64_t value) {
    while (!open) std::this_thread::sleep_for(1ms);
    return value;
  };
  auto run = range(1).map(waits, 1, {.blocks = true}).start();
  EXPECT_TRUE(run.next_for(std::chrono::hours::min()).timed_out());
  open = true;
  EXPECT_EQ(rest_of(run), Texts{"0"});
}

// 20 times as long as the consumer is ready to wait.
TEST(Iterating, ByNextForEndsInTimeInALongStretchOfElementsThatAreLeftOut) {
  const auto slow = [](std::int64_t value) {
    std::this_thread::sleep_for(1ms);
    return value == 199;
  };
  const auto failing = [](std::int64_t value) {
    std::this_thread::sleep_for(1ms);
    if (value != 199) throw std::runtime_error("planted");
    return value;
  };
  for (bool serial : {false, true}) {
    auto filtered = range(200).filter(slow, {.parallelism = 1}).start({.serial = serial});
    EXPECT_TRUE(filtered.next_for(10ms).timed_out()) << "serial: " << serial;
    EXPECT_EQ(rest_of(filtered), Texts{"199"});
    auto skipped = range(200).map(failing, 1).start({.on_error = skip_all(), .serial = serial});
    EXPECT_TRUE(skipped.next_for(10ms).timed_out()) << "serial: " << serial;
    EXPECT_EQ(rest_of(skipped), Texts{"199"});
  }
}

TEST(Iterating, GoesOnBehindAnErrorThatTheIteratorThrew) {
  auto data = range(4).map(failing_at(2));
  auto run = data.start();
  auto epoch = run.epoch(0);
  auto it = epoch.begin();
  EXPECT_EQ(*it, 0);
  ++it;
  EXPECT_EQ(*it, 1);
  EXPECT_THROW(++it, ElementError);
  EXPECT_NE(it, epoch.end());
  EXPECT_THROW(*it, Error) << "it stands on nothing";
  ++it;
  EXPECT_EQ(*it, 3);
  ++it;
  EXPECT_EQ(it, epoch.end());
}

TEST(Iterating, FromInsideAFunctionOfTheSameRunIsRefused) {
  std::shared_ptr<IntegerRun> run;
  auto data = range(2).map(
      [&run](std::int64_t value) {
        run->next();
        return value;
      },
      1);
  run = std::make_shared<IntegerRun>(data.start());
  for (int i = 0; i < 2; ++i) {
    try {
      run->next();
      ADD_FAILURE() << "element " << i << " is no error";
    } catch (const ElementError& error) {
      EXPECT_EQ(error.code(), ErrorCode::failed_precondition) << error.what();
    }
  }
  EXPECT_FALSE(run->next().has_value());
}

TEST(Iterating, FromInsideAFunctionOfTheSameSerialRunIsRefused) {
  std::shared_ptr<IntegerRun> run;
  auto data = range(1).map([&run](std::int64_t value) {
    run->next();
    return value;
  });
  run = std::make_shared<IntegerRun>(data.start({.serial = true}));
  EXPECT_THROW(run->next(), ElementError);
  EXPECT_FALSE(run->next().has_value());
}

// The next epoch is read ahead while the consumer stands at the end of this one.
TEST(Iterating, FromInsideAFunctionOfTheSameRunIsRefusedAtAnEpochsEndToo) {
  std::atomic<IntegerRun*> asked{nullptr};
  std::atomic<bool> answered{false};
  auto data = range(1).map(
      [&](std::int64_t value, Context& context) {
        if (context.epoch() == 0) return value;
        EXPECT_TRUE(eventually([&] { return asked != nullptr; }));
        EXPECT_THROW(asked.load()->next(), Error);
        answered = true;
        return value;
      },
      1, {.blocks = true});
  auto run = data.start({.epochs = 2});
  EXPECT_EQ(rest_of(run), numbers(0, 1));
  asked = &run;
  EXPECT_TRUE(eventually([&] { return answered.load(); }));
}

TEST(Iterating, CarriesElementsThatCanOnlyBeMoved) {
  auto source = from_generator([](Pass) {
    return [i = 0]() mutable { return i < 5 ? std::optional(std::make_unique<std::int64_t>(i++)) : std::nullopt; };
  });
  auto data = source.filter([](const std::unique_ptr<std::int64_t>& value) { return *value != 2; })
                  .map([](std::unique_ptr<std::int64_t> value) {
                    ++*value;
                    return value;
                  })
                  .shuffle(2, {.seed = 1})
                  .batch(2);
  std::int64_t sum = 0;
  std::size_t count = 0;
  for (auto&& batch : data) {
    auto owned = std::move(batch);
    for (const auto& value : owned) sum += *value;
    count += owned.size();
  }
  EXPECT_EQ(count, 4u);
  EXPECT_EQ(sum, 1 + 2 + 4 + 5);
}

// Larger than an element's own storage, and so on the heap.
struct Large {
  std::int64_t values[64];
};

TEST(Iterating, CarriesLargeElements) {
  auto data = range(100).map([](std::int64_t value) {
    Large large{};
    large.values[63] = value;
    return large;
  });
  std::int64_t sum = 0;
  for (const Large& large : data) sum += large.values[63];
  EXPECT_EQ(sum, 4950);
}

std::int64_t sum_of(const Dataset<std::int64_t>& data) {
  std::int64_t sum = 0;
  for (std::int64_t value : data) sum += value;
  return sum;
}

TEST(Runs, OfOneDatasetGoOnAtOnceInSeveralThreads) {
  const auto data = range(2000).map(plus_one).filter([](std::int64_t x) { return x % 2 == 0; });
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 5; ++round) right += sum_of(data) == 1001000;
      });
    }
  }
  EXPECT_EQ(right, 20);
}

TEST(Runs, PulledInTurnByOneThreadDoNotWaitForOneAnother) {
  const auto data = range(50).map(plus_one, 4, {.blocks = true}).map(plus_one);
  std::vector<IntegerRun> runs;
  for (int i = 0; i < 8; ++i) runs.push_back(data.start({.memory_bytes = 64}));
  for (std::int64_t value = 2; value < 52; ++value) {
    for (auto& run : runs) ASSERT_EQ(run.next(), value);
  }
  for (auto& run : runs) EXPECT_FALSE(run.next().has_value());
}

TEST(Runs, ShareOneSourceInsideAFunctionOfAnother) {
  auto inner = std::make_shared<IntegerRun>(range(100).map(plus_one).start({.threads = 1}));
  auto outer = range(100).map([inner](std::int64_t value) { return value - *inner->next(); }, 1);
  EXPECT_EQ(read(outer, {.threads = 1}), Texts(100, "-1"));
}

// A consumer inside a body leaves the run that it waits for one CPU permit more than there are.
TEST(Runs, CallASerialFunctionOneByOneWhileTheirConsumerLendsThemAPermit) {
  std::atomic<int> inside{0};
  std::atomic<bool> overlapped{false};
  const auto serial = [&](std::int64_t value) {
    if (++inside > 1) overlapped = true;
    const auto until = std::chrono::steady_clock::now() + 20us;
    while (std::chrono::steady_clock::now() < until) {
    }
    --inside;
    return value;
  };
  constexpr std::int64_t count = 3000;
  auto inner = std::make_shared<IntegerRun>(range(count + 1).map(serial, 1).start({.threads = 2}));
  inner->next();  // outside any body: it gets threads of its own
  const auto outer = range(count).map([inner](std::int64_t value) { return *inner->next() - value; }, 1);
  EXPECT_EQ(read(outer, {.threads = 2}), Texts(count, "1"));
  EXPECT_FALSE(overlapped);
}

// -------------------------------------------------------------------------------- nesting

// More calls at once than there are workers, on each of three levels.
TEST(Nesting, ThreeDeepEndsWithMoreCallsThanWorkers) {
  const auto inner = range(4).map(plus_one, 8);
  const auto middle = range(4).map([inner](std::int64_t x) { return x + sum_of(inner); }, 8);
  const auto outer = range(12).map([middle](std::int64_t x) { return x + sum_of(middle); }, 8);
  EXPECT_EQ(read(outer, {.threads = 2}), numbers(46, 58));
}

TEST(Nesting, OfBlockingStagesEnds) {
  const auto inner = range(4).map(plus_one, 8, {.blocks = true});
  const auto middle = range(4).map([inner](std::int64_t x) { return x + sum_of(inner); }, 8, {.blocks = true});
  const auto outer = range(12).map([middle](std::int64_t x) { return x + sum_of(middle); }, 8, {.blocks = true});
  EXPECT_EQ(read(outer), numbers(46, 58));
}

TEST(Nesting, ByFlatMapGivesTheInnerElementsInOrder) {
  const auto data = range(4).flat_map([](std::int64_t n) { return range(n).map(plus_one); }, 4);
  EXPECT_EQ(read(data), (Texts{"1", "1", "2", "1", "2", "3"}));
}

}  // namespace
}  // namespace penstock
