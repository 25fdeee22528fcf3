// Runs inside functions of other runs: flat_map over datasets, and those that a function starts itself.
#include <algorithm>
#include <memory>

#include "tests/engine/support.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using namespace testing;

const auto inner_shuffle = [](std::int64_t) { return range(40).shuffle(40, {.seed = 3}); };

template <class Next> Texts several(std::int64_t count, Next&& next) {
  Texts texts;
  for (std::int64_t i = 0; i < count; ++i) texts.push_back(text_of(*next()));
  return texts;
}

TEST(InnerRun, OfAFlatMapShufflesAnewInEachPassAndEpoch) {
  for (const bool serial : {false, true}) {
    auto run = range(1).flat_map(inner_shuffle).repeat(2).start({.serial = serial});
    const auto next = [&run] { return run.next(); };
    const Texts first = several(40, next);
    const Texts second = several(40, next);
    run.epoch(1);
    const Texts third = several(40, next);
    EXPECT_NE(first, second);
    EXPECT_NE(first, third);
    EXPECT_NE(second, third);
  }
}

Dataset<std::int64_t> mixed(RunOptions options) {
  return from_generator([options](Pass) {
    return [run = std::make_shared<IntegerRun>(inner_shuffle(0).start(options))]() mutable { return run->next(); };
  });
}

TEST(InnerRun, BegunByAFunctionHasThePassOfItsCall) {
  const Texts passes = read(mixed({}).repeat(2));
  ASSERT_EQ(passes.size(), 80u);
  EXPECT_FALSE(std::equal(passes.begin(), passes.begin() + 40, passes.begin() + 40));
  EXPECT_EQ(Texts(passes.begin(), passes.begin() + 40), read(inner_shuffle(0)));
}

TEST(InnerRun, MayBeGivenAnotherPass) {
  const Texts passes = read(mixed({.pass = 5}).repeat(2));
  EXPECT_TRUE(std::equal(passes.begin(), passes.begin() + 40, passes.begin() + 40));
  EXPECT_EQ(Texts(passes.begin(), passes.begin() + 40), read(inner_shuffle(0), {.pass = 5}));
  EXPECT_NE(read(inner_shuffle(0), {.pass = 5}), read(inner_shuffle(0), {.pass = 6}));
}

TEST(InnerRun, ResumesInItsPass) {
  const auto data = range(40).shuffle(40, {.seed = 3}).repeat(3).batch(7);
  auto first = data.start({.pass = 9});
  for (int i = 0; i < 8; ++i) first.next();
  const auto saved = std::make_shared<Checkpoint>(first.checkpoint());
  auto second = data.start({.pass = 9, .resume_from = saved});
  EXPECT_EQ(rest_of(second), rest_of(first));
}

TEST(FlatMap, ReadsADatasetThatNeverEnds) {
  for (const bool serial : {false, true}) {
    auto run = range(1).flat_map([](std::int64_t) { return range(3).repeat(); }).take(7).start({.serial = serial});
    EXPECT_EQ(rest_of(run), (Texts{"0", "1", "2", "0", "1", "2", "0"}));
  }
}

TEST(FlatMap, HoldsFewOfALongDataset) {
  auto run = range(3).flat_map([](std::int64_t) { return range(1'000'000'000); }).start({.memory_bytes = 2 * MiB});
  for (std::int64_t i = 0; i < 100'000; ++i) ASSERT_EQ(run.next(), i);
  EXPECT_LE(run.snapshot().memory_peak, static_cast<std::int64_t>(2 * MiB));
}

TEST(InnerRun, OfAFlatMapGivesAllItsElementsWhereTheyJustFit) {
  const auto data = range(6).flat_map([](std::int64_t) { return range(20'000); }, 2);
  auto run = data.start({.memory_bytes = 2 * MiB});
  std::int64_t sum = 0, count = 0;
  while (auto value = run.next()) sum += *value, ++count;
  EXPECT_EQ(count, 120'000);
  EXPECT_EQ(sum, 6 * (20'000 * 19'999LL / 2));
}

// Shards of four records, the third one of shard 1 torn.
Dataset<std::int64_t> shard_of_records(std::int64_t shard) {
  return range(4).map([shard](std::int64_t record) {
    if (shard == 1 && record == 2) throw Error(ErrorCode::data_loss, "torn");
    return 10 * shard + record;
  });
}

const Texts delivered_records = {"0", "1", "2", "3", "10", "11", "x1", "13", "20", "21", "22", "23"};

TEST(InnerRun, OfAFlatMapKeepsTheNeighboursOfAnError) {
  for (const bool serial : {false, true}) {
    auto run = range(3).flat_map(shard_of_records).start({.serial = serial});
    EXPECT_EQ(rest_of(run), delivered_records);
    EXPECT_EQ(run.stats().errors, 1);
    EXPECT_EQ(run.stats().delivered, 11);
  }
}

TEST(InnerRun, OfAFlatMapTellsWhereInItAnErrorWas) {
  auto run = range(3).flat_map(shard_of_records).skip(6).start();
  try {
    run.next();
    FAIL();
  } catch (const ElementError& error) {
    EXPECT_EQ(error.place().op, "flat_map");
    EXPECT_EQ(error.place().source_ordinal, 1);
    EXPECT_EQ(error.code(), ErrorCode::data_loss);
    EXPECT_THAT(error.what(), ::testing::EndsWith(") failed at element 2 (source element 2) of epoch 0: torn"));
    try {
      std::rethrow_exception(error.cause());
    } catch (const ElementError& inner) {
      EXPECT_EQ(inner.place().op, "map");
      EXPECT_EQ(inner.place().ordinal, 2);
    }
  }
}

TEST(InnerRun, OfAFlatMapInAFlatMapKeepsNeighboursToo) {
  const auto outer = range(1).flat_map([](std::int64_t) { return range(3).flat_map(shard_of_records); });
  Texts records = delivered_records;
  std::ranges::replace(records, "x1", "x0");  // the outermost element
  EXPECT_EQ(read(outer), records);
}

TEST(InnerRun, OfAFlatMapIsResumedBesideItsErrors) {
  for (const auto& data : {range(3).flat_map(shard_of_records), range(3).flat_map(shard_of_records).prefetch(3)}) {
    for (std::size_t taken = 0; taken < delivered_records.size(); ++taken) {
      auto first = data.start();
      for (std::size_t i = 0; i < taken; ++i) next_text(first);
      auto second = data.start({.resume_from = std::make_shared<Checkpoint>(first.checkpoint())});
      EXPECT_EQ(rest_of(second),
                Texts(delivered_records.begin() + static_cast<std::ptrdiff_t>(taken), delivered_records.end()))
          << taken;
    }
  }
}

TEST(InnerRun, OfAFlatMapCountsWhatItsIgnoreErrorsDrops) {
  const auto good = [](std::int64_t shard) { return shard_of_records(shard).ignore_errors(); };
  for (const bool serial : {false, true}) {
    auto run = range(3).flat_map(good).start({.serial = serial});
    EXPECT_EQ(rest_of(run).size(), 11u);
    EXPECT_EQ(run.stats().dropped, 1);
  }
}

TEST(FlatMap, GivesErrorsAsLongAsADatasetDoes) {
  const auto broken = [](std::int64_t) {
    return from_generator([]() -> std::optional<std::int64_t> { throw Error(ErrorCode::unavailable, "no line"); });
  };
  for (const bool serial : {false, true}) {
    auto run = range(2).flat_map(broken).start({.serial = serial});
    for (int i = 0; i < 100; ++i) EXPECT_EQ(next_text(run), "x0");
  }
}

// Endless, but nobody can tell that beforehand.
Dataset<std::int64_t> endless(std::atomic<bool>& has_begun) {
  return from_generator([&has_begun] {
    has_begun = true;
    return std::optional<std::int64_t>(1);
  });
}

TEST(InnerRun, OfAFlatMapEndsWithTheRun) {
  std::atomic<bool> has_begun{false};
  auto run = std::make_unique<IntegerRun>(range(4).flat_map([&](std::int64_t) { return endless(has_begun); }).start());
  EXPECT_EQ(run->next(), 1);
  ASSERT_TRUE(eventually([&] { return has_begun.load(); }));
  run.reset();
}

TEST(InnerRun, OfAFlatMapEndsWhenATakeHasEnough) {
  std::atomic<bool> has_begun{false};
  const auto data = range(4)
                        .flat_map(
                            [&](std::int64_t value) {
                              if (value == 0) {
                                eventually([&] { return has_begun.load(); });
                                return range(5);
                              }
                              return endless(has_begun);
                            },
                            2, {.blocks = true})
                        .take(3)
                        .repeat(3);
  auto run = data.start({.memory_bytes = std::size_t{1} << 40});
  EXPECT_EQ(rest_of(run), (Texts{"0", "1", "2", "0", "1", "2", "0", "1", "2"}));
}

TEST(InnerRun, TellsItsFunctionsThatNobodyWantsTheOuterPassAnyMore) {
  std::atomic<bool> began{false}, was_told{false};
  const auto inner = [&](std::int64_t i) {
    return range(1).map([&, i](std::int64_t value, Context& context) {
      if (i == 1) began = true;
      const bool done = eventually([&] { return i == 1 ? context.is_unwanted() : began.load(); });
      if (i == 1) was_told = done;
      return value;
    });
  };
  auto run = range(2).flat_map(inner, {.parallelism = 2, .blocks = true}).take(1).repeat(2).start();
  EXPECT_TRUE(run.next());
  EXPECT_TRUE(eventually([&] { return was_told.load(); }));
}

// A function of an inner run reserves for the call around it: what is broken off is not the call of its own run.
TEST(InnerRun, IsNotBrokenOffForTheMemoryOfTheCallThatReadsIt) {
  std::atomic<int> calls{0};
  const auto reserves = [&calls](const std::int64_t& value, Context& outer) {
    const auto holds = [&](const std::int64_t& i) {
      ++calls;
      outer.reserve(400'000);
      std::this_thread::sleep_for(20ms);
      return i;
    };
    std::int64_t sum = value;
    for (const std::int64_t i : range(2).map(holds)) sum += i;
    return sum;
  };
  const auto data = range(12).map(reserves, 4, {.blocks = true});
  EXPECT_EQ(read(data, {.memory_bytes = 1'000'000}), numbers(1, 13));
  EXPECT_EQ(calls, 24);
}

}  // namespace
}  // namespace penstock
