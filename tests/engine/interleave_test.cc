// interleave: datasets that a function makes of elements, in turn.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/engine/support.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using namespace testing;
using Numbers = std::vector<std::int64_t>;

const auto row_of = [](const Numbers& row) { return from_vector(row); };
const auto twice = [](std::int64_t x) { return from_vector(Numbers{x, x}); };

// The same for any number of calls, serially and on threads.
template <class T, class F>
void expect_in_turn(const Dataset<T>& input, F function, InterleaveOptions options, const std::string& expected) {
  for (const Tunable& parallelism : {Tunable(AUTOTUNE), Tunable(1), Tunable(2), Tunable(8)}) {
    options.parallelism = parallelism;
    const auto dataset = input.interleave(function, options);
    EXPECT_EQ(text_of(read(dataset)), "[" + expected + "]");
    EXPECT_EQ(text_of(read(dataset, {.serial = true})), "[" + expected + "]") << "serially";
  }
}

// Numbers of tfdata.md 3.7, which has them from tests of TensorFlow's and from runs of 2.21.
TEST(Interleave, GivesInTurnAsTfDataDoes) {
  const auto rows = from_vector(std::vector<Numbers>{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}});
  expect_in_turn(rows, row_of, {.cycle_length = 1}, "0 1 2 3 4 5 6 7 8");                      // I-01
  expect_in_turn(rows, row_of, {.cycle_length = 2}, "0 3 1 4 2 5 6 7 8");                      // I-02
  expect_in_turn(rows, row_of, {.cycle_length = 3}, "0 3 6 1 4 7 2 5 8");                      // I-03
  expect_in_turn(rows, row_of, {.cycle_length = 5}, "0 3 6 1 4 7 2 5 8");                      // I-03
  expect_in_turn(rows, row_of, {.cycle_length = 2, .block_length = 2}, "0 1 3 4 2 5 6 7 8");   // I-04
  expect_in_turn(rows, row_of, {.cycle_length = 2, .block_length = 3}, "0 1 2 3 4 5 6 7 8");   // I-05
  expect_in_turn(rows, row_of, {.cycle_length = 2, .block_length = 5}, "0 1 2 3 4 5 6 7 8");   // I-05
  expect_in_turn(rows, row_of, {.cycle_length = 3, .block_length = 2}, "0 1 3 4 6 7 2 5 8");   // I-06
  expect_in_turn(rows, row_of, {.cycle_length = 11, .block_length = 1}, "0 3 6 1 4 7 2 5 8");  // I-07
  const auto times = [](std::int64_t x) { return from_vector(Numbers(static_cast<std::size_t>(x), x)); };
  expect_in_turn(from_vector(Numbers{4, 5, 6, 4, 5, 6}), times, {.cycle_length = 2},
                 "4 5 4 5 4 5 4 5 5 6 6 4 6 4 6 4 6 4 6 5 6 5 6 5 6 5 6 5 6 6");  // I-10
  const auto six = [](std::int64_t x) { return from_vector(Numbers(6, x)); };
  expect_in_turn(range(1, 6), six, {.cycle_length = 2, .block_length = 4},
                 "1 1 1 1 2 2 2 2 1 1 2 2 3 3 3 3 4 4 4 4 3 3 4 4 5 5 5 5 5 5");  // I-15
}

// The end of a repeat's pass waits for room behind it as a slot does.
TEST(Interleave, InAnyOrderEndsPassesWhereNothingMayLeave) {
  for (const std::int64_t cycle_length : {1, 3}) {
    const auto data = range(2).repeat(100).interleave(
        twice, {.cycle_length = cycle_length, .parallelism = 2, .order = Order::arbitrary});
    for (const std::int64_t depth : {0, 1, 3}) EXPECT_EQ(read(data.prefetch(depth)).size(), 400u);
  }
}

TEST(Interleave, CountsErrorsAsElementsOfTheBlock) {
  const auto fails_at_one = [](std::int64_t x) {
    if (x == 1) throw std::runtime_error("one");
    return from_vector(Numbers{x, x});
  };
  expect_in_turn(range(4), fails_at_one, {.cycle_length = 2}, "0 x1 0 2 3 2 3");  // I-20
  const auto checked = [](const Numbers& row) {
    return from_vector(row).map([](std::int64_t x) { return x < 0 ? throw std::runtime_error("negative") : x; });
  };
  const auto rows = from_vector(std::vector<Numbers>{{1, -1, 3}, {10, 11, 12}});
  expect_in_turn(rows, checked, {.cycle_length = 2}, "1 10 x0 11 3 12");                     // I-19
  expect_in_turn(rows, checked, {.cycle_length = 2, .block_length = 2}, "1 x0 10 11 3 12");  // I-19
  const auto input = range(1, 6).map([](std::int64_t x) { return x % 2 == 0 ? throw std::runtime_error("even") : x; });
  const auto one = [](std::int64_t x) { return from_vector(Numbers{x}); };
  for (const std::int64_t cycle : {1, 2, 7}) {
    for (const std::int64_t block : {1, 3})
      expect_in_turn(input, one, {.cycle_length = cycle, .block_length = block}, "1 x1 3 x3 5");  // I-14
  }
}

TEST(Interleave, BeginsAnewInEachPassAndEpoch) {
  expect_in_turn(range(2).repeat(2), twice, {.cycle_length = 3}, "0 1 0 0 1 0 1 1");
  auto run = range(2).interleave(twice, {.cycle_length = 3}).repeat(2).start();
  EXPECT_EQ(text_of(rest_of(run)), "[0 1 0 1 0 1 0 1]");
  run.epoch(1);
  EXPECT_EQ(next_text(run), "0");
  run.epoch(2);  // what is open is let go of
  EXPECT_EQ(text_of(rest_of(run)), "[0 1 0 1 0 1 0 1]");
}

TEST(Interleave, NeedsNoEndOfInputsOrDatasets) {
  const auto endless = [](std::int64_t x) { return counter(100 * x); };
  expect_in_turn(
      range(5), [=](std::int64_t x) { return endless(x).take(2); }, {.cycle_length = 3},
      "0 100 200 1 101 201 300 400 301 401");
  EXPECT_EQ(text_of(read(range(5).interleave(endless, {.cycle_length = 2}).take(5))), "[0 100 1 101 2]");
  EXPECT_EQ(text_of(read(counter().interleave(twice, {.cycle_length = 2}).take(5))), "[0 1 0 1 2]");
  const auto none = [](std::int64_t) { return range(0); };
  EXPECT_EQ(text_of(read(range(1000).interleave(none))), "[]");
  const auto passes_nothing = [](std::int64_t) { return counter().filter([](std::int64_t) { return false; }); };
  EXPECT_EQ(text_of(read(range(2).interleave(twice).concatenate(range(1).interleave(passes_nothing)).take(4))),
            "[0 1 0 1]")
      << "a call that finds nothing is ended with the run";
}

TEST(Interleave, InArbitraryOrderGivesTheSameElements) {
  const auto slow_first = [](std::int64_t x) {
    return range(3).map([x](std::int64_t y) {
      if (x == 0) std::this_thread::sleep_for(5ms);
      return 10 * x + y;
    });
  };
  const auto dataset = range(4).interleave(slow_first, {.cycle_length = 2, .order = Order::arbitrary, .blocks = true});
  Texts given = read(dataset);
  std::ranges::sort(given);
  EXPECT_THAT(given, ::testing::ElementsAre("0", "1", "10", "11", "12", "2", "20", "21", "22", "30", "31", "32"));
}

// ------------------------------------------------------------------------------------------------ what cannot be

TEST(Interleave, MakesAnErrorOfADatasetThatCannotBe) {
  const auto wrong = [](std::int64_t x) { return range(10).take(x == 1 ? -7 : 1); };
  EXPECT_EQ(text_of(read(range(3).interleave(wrong))), "[0 x1 0]");
  const auto moved_from = [](std::int64_t) {
    auto dataset = range(1);
    const auto taken = std::move(dataset);
    return dataset;  // NOLINT: that is what it is about
  };
  EXPECT_EQ(text_of(read(range(1).interleave(moved_from))), "[x0]");
}

Dataset<std::int64_t> without_end(std::int64_t x) {
  return range(1).interleave([x](std::int64_t) { return without_end(x); });
}

TEST(Interleave, OpensSixtyFourDatasetsInsideEachOtherAtMost) {
  auto run = without_end(0).start();
  EXPECT_ERROR(run.next(), ErrorCode::resource_exhausted, "one inside the other");
}

TEST(Interleave, RefusesWhatCannotBe) {
  EXPECT_ERROR(range(1).interleave(twice, {.cycle_length = 0}), ErrorCode::invalid_argument,
               "cycle_length must be 1 to");
  EXPECT_ERROR(range(1).interleave(twice, {.cycle_length = 65537}), ErrorCode::invalid_argument, "cycle_length");
  EXPECT_ERROR(range(1).interleave(twice, {.block_length = 0}), ErrorCode::invalid_argument, "block_length must be at");
  EXPECT_ERROR(range(1).interleave(twice, {.parallelism = -5}), ErrorCode::invalid_argument, "parallelism");
  const auto changing = [n = 0](std::int64_t) mutable { return range(n++); };
  EXPECT_ERROR(range(1).interleave(changing, {.parallelism = 1}), ErrorCode::invalid_argument, "callable as const");
  EXPECT_ERROR(range(1).interleave(twice).at(0), ErrorCode::failed_precondition, "interleave");
}

TEST(Interleave, HasAsManyElementsAsNobodyKnows) {
  EXPECT_EQ(range(3).interleave(twice).cardinality(), UNKNOWN_CARDINALITY);
  EXPECT_EQ(counter().interleave(twice).cardinality(), INFINITE_CARDINALITY);
}

// ------------------------------------------------------------------------------------------------ what it holds

// Elements that count how many there are.
struct CountedAlive {
  explicit CountedAlive(std::shared_ptr<std::atomic<int>> all) : count(std::move(all)) { ++*count; }
  CountedAlive(CountedAlive&& other) noexcept = default;
  CountedAlive& operator=(CountedAlive&&) = default;
  ~CountedAlive() {
    if (count) --*count;
  }
  std::shared_ptr<std::atomic<int>> count;
};

// Counts how many there are, and how many there were at most.
struct OpenFile {
  OpenFile(std::atomic<int>& all, std::atomic<int>& most) : open(all) { most = std::max(most.load(), ++open); }
  ~OpenFile() { --open; }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  std::atomic<int>& open;
};

TEST(Interleave, OpensTwoCyclesOfDatasetsAhead) {
  std::atomic<int> open = 0, most = 0;
  const auto files = [&](std::int64_t) {
    return from_generator([&](Pass) {
      return [file = std::make_shared<OpenFile>(open, most), left = 30]() mutable {
        std::this_thread::sleep_for(200us);
        return left-- > 0 ? std::optional(left) : std::nullopt;
      };
    });
  };
  auto run = range(40).interleave(files, {.cycle_length = 2, .blocks = true}).start({.threads = 2});
  while (run.next()) {
  }
  EXPECT_EQ(open, 0);
  EXPECT_LE(most, 2 + 2 * 2);
}

TEST(Interleave, LetsGoOfWhatIsOpenWhenTheRunEnds) {
  const auto alive = std::make_shared<std::atomic<int>>(0);
  {
    const auto rows = [alive](std::int64_t) {
      return range(100).map([alive](std::int64_t) { return CountedAlive(alive); });
    };
    auto run = range(100).interleave(rows).start();
    for (int i = 0; i < 50; ++i) run.next();
  }
  EXPECT_EQ(*alive, 0);
}

// What is due may be any of 64 datasets, and all others have as much as the budget holds: one element more.
TEST(Interleave, OfLargeElementsStaysWithinTheBudget) {
  constexpr std::size_t kElement = MiB;
  const auto large = [](std::int64_t x) {
    return range(6).map([x](std::int64_t y) { return std::string(kElement, static_cast<char>('a' + (x + y) % 20)); });
  };
  for (const bool blocks : {true, false}) {
    auto run = range(100)
                   .interleave(large, {.cycle_length = 64, .parallelism = 8, .blocks = blocks})
                   .start({.memory_bytes = 32 * MiB});
    std::int64_t count = 0;
    while (const auto text = run.next()) {
      ASSERT_EQ(text->size(), kElement);
      if (++count % 100 == 0) std::this_thread::sleep_for(5ms);  // all that may be made is made
    }
    EXPECT_EQ(count, 600);
    EXPECT_LE(run.stats().memory_peak, static_cast<std::int64_t>(33 * MiB + 100 * KiB));
    EXPECT_EQ(run.snapshot().memory_used, 0) << "nothing is left on the books";
  }
}

// What a shuffle inside keeps is on the books, too.
TEST(Interleave, CountsWhatIsKeptInside) {
  const auto kept = [](std::int64_t) {
    return range(40).map([](std::int64_t) { return std::string(MiB / 16, 'x'); }).shuffle(20, {.seed = 1});
  };
  auto run = range(3).interleave(kept, {.cycle_length = 1, .parallelism = 1}).start({.memory_bytes = 64 * MiB});
  run.next();
  EXPECT_GE(run.snapshot().memory_used, static_cast<std::int64_t>(MiB));
  while (run.next()) {
  }
  EXPECT_EQ(run.snapshot().memory_used, 0);
}

TEST(Interleave, ResumesBehindWhatWasDelivered) {
  const auto dataset =
      range(20)
          .shuffle(20, {.seed = 5})
          .interleave([](std::int64_t x) { return range(100 * x, 100 * x + 7).shuffle(3, {.seed = 9}); },
                      {.cycle_length = 3});
  const Texts whole = read(dataset);
  auto run = dataset.start();
  for (int i = 0; i < 33; ++i) run.next();
  const auto checkpoint = std::make_shared<const Checkpoint>(run.checkpoint());
  EXPECT_EQ(read(dataset, {.resume_from = checkpoint}), Texts(whole.begin() + 33, whole.end()));
}

TEST(Interleave, ReadsNothingAheadSerially) {
  std::atomic<int> opened = 0, made = 0;
  const auto rows = [&](std::int64_t x) {
    ++opened;
    return range(10).map([&, x](std::int64_t y) {
      ++made;
      return 10 * x + y;
    });
  };
  auto run = range(5).interleave(rows, {.cycle_length = 2}).start({.serial = true});
  EXPECT_EQ(next_text(run), "0");
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(next_text(run), "10");
  EXPECT_EQ(next_text(run), "1");
  EXPECT_EQ(opened, 2);
  EXPECT_EQ(made, 3);
}

}  // namespace
}  // namespace penstock
