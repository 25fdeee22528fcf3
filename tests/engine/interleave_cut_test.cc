// interleave where something is cut, waits, or is kept: passes that nobody wants, calls that take long, memory.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

const auto never_ending = [](std::int64_t x) { return counter(100 * x); };

Texts some(IntegerRun& run, int count) {
  Texts texts;
  while (count-- > 0) texts.push_back(next_text(run));
  return texts;
}

// Of a pass of the nest that has several of a repeat before it, some datasets are older than the end of the last one.
TEST(InterleaveCut, EndsDatasetsThatWereBegunBeforeTheEndOfARepeat) {
  for (const bool serial : {false, true}) {
    const auto nest = range(2).repeat(2).interleave(never_ending, {.cycle_length = 4});
    auto taken = nest.take(3).start({.serial = serial});
    EXPECT_EQ(text_of(rest_of(taken)), "[0 100 0]");
    taken.epoch(1);
    EXPECT_EQ(text_of(rest_of(taken)), "[0 100 0]");
    EXPECT_EQ(text_of(read(nest.take(3).repeat(2), {.serial = serial})), "[0 100 0 0 100 0]");
    auto left = nest.start({.serial = serial});
    EXPECT_EQ(text_of(some(left, 5)), "[0 100 0 100 1]");
    left.epoch(1);
    EXPECT_EQ(text_of(some(left, 3)), "[0 100 0]");
  }
}

TEST(InterleaveCut, EndsWhereDatasetsInsideNeverGiveAnything) {
  const auto empty_ones = [](std::int64_t) { return counter().interleave([](std::int64_t) { return range(0); }); };
  const auto never_chosen = [](std::int64_t) {
    return choose_from(std::vector{range(0), range(5)}, counter().map([](std::int64_t) { return std::int64_t{0}; }));
  };
  for (const bool serial : {false, true}) {
    EXPECT_EQ(
        text_of(read(
            range(3).interleave([=](std::int64_t x) { return x == 0 ? range(1) : empty_ones(x); }).take(1).repeat(2),
            {.serial = serial})),
        "[0 0]");
    auto run = range(3).interleave([=](std::int64_t x) { return x == 0 ? range(1) : never_chosen(x); }).start();
    EXPECT_EQ(next_text(run), "0");
  }
}

// A source that gives nothing until it is told that nobody wants its pass.
Dataset<std::int64_t> waiting() {
  return from_generator([](Pass) {
    return [](Context& context) -> std::optional<std::int64_t> {
      std::mutex mutex;
      std::condition_variable_any woken;
      std::unique_lock lock(mutex);
      woken.wait(lock, context.stop_token(), [] { return false; });
      return std::nullopt;
    };
  });
}

TEST(InterleaveCut, TellsSourcesInsideThatNobodyWantsTheirPass) {
  const auto one_waits = [](std::int64_t x) { return x == 0 ? range(1) : waiting(); };
  EXPECT_EQ(text_of(read(range(2).interleave(one_waits, {.blocks = true}).take(1).repeat(3))), "[0 0 0]");
  auto run = range(2).interleave(one_waits).start();
  EXPECT_EQ(next_text(run), "0");
  const auto one_waits_deeper = [=](std::int64_t x) {
    return x == 0 ? range(1) : range(1, 3).interleave([=](std::int64_t y) { return one_waits(y); });
  };
  EXPECT_EQ(text_of(read(range(2).interleave(one_waits_deeper, {.blocks = true}).take(1).repeat(3))), "[0 0 0]");
}

// Calls that AUTOTUNE has begun may all wait in datasets whose turn it is not.
TEST(InterleaveCut, AlwaysCallsTheDatasetWhoseTurnItIs) {
  constexpr std::int64_t kSources = 40;
  std::atomic<std::int64_t> taken = 0;
  const auto one_and_then_waits = [&](std::int64_t x) {
    return from_generator([&, x](Pass) {
      return [&, x, is_first = true](Context& context) mutable -> std::optional<std::int64_t> {
        if (std::exchange(is_first, false)) return x;
        while (taken < kSources && !context.stop_token().stop_requested()) std::this_thread::sleep_for(1ms);
        return std::nullopt;
      };
    });
  };
  auto run = range(kSources).interleave(one_and_then_waits, {.cycle_length = kSources, .blocks = true}).start();
  for (; taken < kSources; ++taken) EXPECT_EQ(next_text(run), std::to_string(taken));
  EXPECT_EQ(next_text(run), "end");
}

TEST(InterleaveCut, LetsWhatIsDoneGoThoughTheNextOneTakesLong) {
  std::atomic<bool> may_go_on = false;
  const auto every_other_waits = [&](std::int64_t) {
    return from_generator([&](Pass) {
      return [&, i = std::int64_t{0}](Context& context) mutable -> std::optional<std::int64_t> {
        while (i == 3 && !may_go_on && !context.stop_token().stop_requested()) std::this_thread::sleep_for(1ms);
        return i < 5 ? std::optional(i++) : std::nullopt;
      };
    });
  };
  for (const std::optional<bool> blocks : {std::optional<bool>(), std::optional(true), std::optional(false)}) {
    may_go_on = false;
    auto run = range(1).interleave(every_other_waits, {.cycle_length = 1, .block_length = 8, .blocks = blocks}).start();
    EXPECT_EQ(text_of(some(run, 3)), "[0 1 2]");
    may_go_on = true;
    EXPECT_EQ(text_of(rest_of(run)), "[3 4]");
  }
}

TEST(InterleaveCut, InArbitraryOrderIsHeldUpByNoEndOfARepeat) {
  const auto first_waits = [](std::int64_t x) { return x == 0 ? waiting() : range(10 * x, 10 * x + 3); };
  auto run = from_vector(std::vector<std::int64_t>{0, 1})
                 .repeat(1)
                 .concatenate(range(2, 4).repeat(1))
                 .interleave(first_waits, {.cycle_length = 2, .order = Order::arbitrary, .blocks = true})
                 .start();
  EXPECT_EQ(some(run, 9).size(), 9u);
  const auto second_waits = [n = std::make_shared<std::atomic<int>>(0)](std::int64_t) {
    return (*n)++ == 0 ? waiting() : range(3);
  };
  auto passes =
      range(2)
          .repeat(2)
          .interleave(second_waits, {.cycle_length = 2, .parallelism = 2, .order = Order::arbitrary, .blocks = true})
          .start();
  EXPECT_EQ(some(passes, 9).size(), 9u);
}

// ------------------------------------------------------------------------------------------------ as in a run of its
// own

TEST(InterleaveCut, BeginsRunsInsideInThePassOfTheElement) {
  const auto mixed = [](std::int64_t) {
    return range(12).map([](std::int64_t) { return *range(1000).shuffle(1000, {.seed = 5}).start().next(); });
  };
  const Texts given = read(range(1).interleave(mixed).repeat(2));
  ASSERT_EQ(given.size(), 24u);
  EXPECT_EQ(std::set<std::string>(given.begin(), given.begin() + 12).size(), 1u);
  EXPECT_EQ(std::set<std::string>(given.begin() + 12, given.end()).size(), 1u);
  EXPECT_NE(given.front(), given.back());
}

TEST(InterleaveCut, CountsOpeningsOfTensorFlowsShuffleInEachDataset) {
  const auto shuffled = [](std::int64_t) {
    return range(6).shuffle(6, {.seed = 5, .order = ShuffleOrder::tensorflow}).repeat(3);
  };
  const Texts one = read(shuffled(0)), given = read(range(1).interleave(shuffled).repeat(3));
  ASSERT_EQ(given.size(), 3 * one.size());
  for (std::size_t i = 0; i < given.size(); ++i) EXPECT_EQ(given[i], one[i % one.size()]);
}

class OpensAtTheSecondTry final : public ElementwiseOp {
 public:
  std::string name() const override { return "fails_to_open"; }
  Flow flow(const Flow& input) const override { return input; }
  bool has_state() const override { return true; }
  std::unique_ptr<ElementwiseState> open() const override {
    if (opened_++ == 0) throw std::runtime_error("not yet");
    return std::make_unique<State>();
  }

 private:
  struct State final : ElementwiseState {
    void run(std::span<Slot>, Context&) override {}
  };
  mutable std::atomic<int> opened_ = 0;
};

TEST(InterleaveCut, FailsAllOfAPassWhoseStateFailsToOpen) {
  const auto failing = [op = std::make_shared<OpensAtTheSecondTry>()](std::int64_t) {
    return range(40).then<std::int64_t>(op);
  };
  const Texts given = read(range(1).interleave(failing));
  EXPECT_EQ(given, Texts(40, "x0"));
}

TEST(InterleaveCut, TellsWhichInputOfAnOpInsideFailed) {
  auto run = range(1)
                 .interleave([](std::int64_t) {
                   return range(5).filter([](std::int64_t) { return true; }).assert_cardinality(9);
                 })
                 .start();
  some(run, 5);
  try {
    run.next();
    FAIL() << "must throw";
  } catch (const ElementError& outer) {
    try {
      std::rethrow_exception(outer.cause());
    } catch (const ElementError& inner) {
      EXPECT_EQ(inner.place().position, 2);
      EXPECT_EQ(inner.place().ordinal, 5);
    }
  }
}

// ------------------------------------------------------------------------------------------------ memory

TEST(InterleaveCut, CountsListsThatFunctionsInsideHaveGiven) {
  constexpr std::size_t kList = 4 * MiB;
  const auto list = [](std::int64_t) {
    return range(1).flat_map([](std::int64_t) { return std::vector<char>(kList, 'x'); });
  };
  auto run = range(4).interleave(list, {.cycle_length = 1, .parallelism = 1}).start({.memory_bytes = 64 * MiB});
  run.next();
  EXPECT_GE(run.snapshot().memory_used, static_cast<std::int64_t>(kList));
}

TEST(InterleaveCut, LetsGoOfWhatNobodyWantsThoughMemoryIsShort) {
  const auto kept = [](std::int64_t x) {
    return range(x, x + 40).map([](std::int64_t y) { return y; }).shuffle(5, {.seed = 1});
  };
  auto run = zip(range(8).interleave(kept, {.cycle_length = 4}), branch(3)).start({.memory_bytes = 600});
  while (run.next()) {
  }
  EXPECT_TRUE(eventually([&] { return run.snapshot().memory_used == 0; })) << run.snapshot().memory_used;
}

TEST(InterleaveCut, CostsNoMoreWhereTheCycleIsLong) {
  const auto few =
      range(2).interleave([](std::int64_t x) { return range(2000 * x, 2000 * (x + 1)); }, {.cycle_length = 65536});
  EXPECT_EQ(read(few).size(), 4000u);  // 1.3 s where each slot passes over 65,534 free places
}

}  // namespace
}  // namespace penstock
