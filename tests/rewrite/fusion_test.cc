// Neighbouring maps, and a filter behind them, share calls.
#include <gtest/gtest.h>
#include <penstock/penstock.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/rewrite/support.h"

namespace penstock {
namespace {

using testing::as_it_is_run;
using testing::given;
using testing::is_the_same;
using testing::written;

const MapOptions kComputes{.blocks = false};

std::int64_t twice(std::int64_t x) { return 2 * x; }
bool is_small(std::int64_t x) { return x < 100; }

auto failing_at(std::int64_t rest) {
  return [rest](std::int64_t x) {
    if (x % 5 == rest) throw std::runtime_error("fails on " + std::to_string(x));
    return x;
  };
}

TEST(Fusion, RunsMapsAndTheFilterBehindThemInOneCall) {
  const auto dataset =
      range(60).map(twice, AUTOTUNE, kComputes).map(twice, AUTOTUNE, kComputes).filter(is_small).batch(8);
  EXPECT_EQ(written(dataset),
            "0 range start=0, stop=60, step=1\n"
            "1 map parallelism=auto\n"
            "2 map parallelism=auto\n"
            "3 filter parallelism=auto\n"
            "4 batch batch_size=8\n");
  EXPECT_EQ(as_it_is_run(dataset),
            "0 range start=0, stop=60, step=1\n"
            "1 map parallelism=auto\n"
            "2 map in the calls of 1\n"
            "3 filter in the calls of 2\n"
            "4 batch batch_size=8\n");
}

TEST(Fusion, HasASwitchForMapsAndOneForFilters) {
  const auto dataset = range(9).map(twice, AUTOTUNE, kComputes).map(twice, AUTOTUNE, kComputes).filter(is_small);
  EXPECT_EQ(
      as_it_is_run(dataset, {.map_fusion = false}),
      "0 range start=0, stop=9, step=1\n1 map parallelism=auto\n2 map parallelism=auto\n3 filter in the calls of 2\n");
  EXPECT_EQ(
      as_it_is_run(dataset, {.map_and_filter_fusion = false}),
      "0 range start=0, stop=9, step=1\n1 map parallelism=auto\n2 map in the calls of 1\n3 filter parallelism=auto\n");
  EXPECT_EQ(as_it_is_run(dataset, no_rewrites()), written(dataset));
}

template <class T> void expect_as_written(const Dataset<T>& dataset) {
  EXPECT_EQ(as_it_is_run(dataset), written(dataset));
}

TEST(Fusion, LeavesApartWhatMayWaitOrIsBounded) {
  const auto computes = range(9).map(twice, AUTOTUNE, kComputes);
  expect_as_written(computes.map(twice));
  expect_as_written(computes.map(twice, AUTOTUNE, {.blocks = true}));
  expect_as_written(computes.map(twice, 2, {.blocks = false}));
  expect_as_written(computes.map(twice, Tunable::between(1, 8), {.blocks = false}));
  expect_as_written(computes.map(twice, AUTOTUNE, {.order = Order::arbitrary, .blocks = false}));
  expect_as_written(
      computes.map(twice, AUTOTUNE, {.blocks = false, .bytes_hint = [](std::int64_t) { return std::size_t{8}; }}));
  expect_as_written(computes.map([n = 0](std::int64_t x) mutable { return x + n++; }, 1, {.blocks = false}));
  expect_as_written(computes.prefetch(4).map(twice, AUTOTUNE, kComputes));
  expect_as_written(range(9).filter(is_small).map(twice, AUTOTUNE, kComputes));
}

TEST(Fusion, GivesErrorsToTheOpThatFailed) {
  const auto dataset = range(40)
                           .map(failing_at(1), AUTOTUNE, {.blocks = false, .name = "first"})
                           .map(failing_at(2), AUTOTUNE, {.blocks = false, .name = "second"})
                           .filter([](std::int64_t x) { return failing_at(3)(x) > 4; });
  ASSERT_NE(as_it_is_run(dataset), written(dataset));
  EXPECT_TRUE(is_the_same(dataset));
  std::vector<int> positions;
  auto run = dataset.start();
  for (std::int64_t left = 24; left > 0; --left) {
    try {
      run.next();
    } catch (const ElementError& error) {
      positions.push_back(error.place().position);
      EXPECT_EQ(error.place().ordinal, error.place().source_ordinal);
    }
  }
  EXPECT_EQ(positions.size(), 15u);
  EXPECT_EQ(std::vector(positions.begin(), positions.begin() + 6), (std::vector{1, 2, 3, 1, 2, 3}));
}

TEST(Fusion, CountsErrorsOfAllItsOps) {
  auto run = range(40)
                 .map(failing_at(1), AUTOTUNE, kComputes)
                 .map(failing_at(2), AUTOTUNE, kComputes)
                 .start({.on_error = skip_all()});
  while (run.next()) {
  }
  EXPECT_EQ(run.stats().skipped, 16);
  EXPECT_EQ(run.snapshot().stages.at(1).errors, 16);
}

TEST(Fusion, KeepsRandomNumbersOfEachOp) {
  const auto drawn = [](std::int64_t x, Context& context) {
    return 1000 * x + static_cast<std::int64_t>(context.rng()() % 1000);
  };
  const auto dataset = range(50).map(drawn, AUTOTUNE, kComputes).map(drawn, AUTOTUNE, kComputes).repeat(2);
  ASSERT_NE(as_it_is_run(dataset), written(dataset));
  EXPECT_TRUE(is_the_same(dataset));
}

// Of a type that tells its memory, and throws as it does.
struct Shy {
  std::int64_t number;
};
std::size_t bytes_of(const Shy& shy) {
  if (shy.number % 4 == 3) throw std::runtime_error("does not tell");
  return 8;
}

TEST(Fusion, LooksAtWhatOpsInsideGive) {
  const auto dataset = range(20)
                           .map([](std::int64_t x) { return Shy{x}; }, AUTOTUNE, kComputes)
                           .map([](Shy shy) { return shy.number; }, AUTOTUNE, kComputes);
  ASSERT_NE(as_it_is_run(dataset), written(dataset));
  EXPECT_TRUE(is_the_same(dataset));
}

// The input of a call is gone when its second op asks.
TEST(Fusion, CountsWhatAnOpReservesAndIsNotBrokenOff) {
  const auto reserves = [](const std::int64_t& x, Context& context) {
    context.reserve(1 << 20);
    return x + 1;
  };
  auto run =
      range(30).map(reserves, AUTOTUNE, kComputes).map(reserves, AUTOTUNE, kComputes).start({.memory_bytes = 1 << 16});
  for (std::int64_t i = 0; i < 30; ++i) EXPECT_EQ(run.next(), i + 2);
}

TEST(Fusion, WritesRowsOfBatchesInPlace) {
  const auto row = [](std::int64_t x, Context& context) {
    context.outputs().declare(1);
    Tensor tensor = context.outputs().slot(0, DType::i64, {4});
    for (std::int64_t& value : tensor.values<std::int64_t>()) value = x;
    return tensor;
  };
  const auto dataset = range(64).map(twice, AUTOTUNE, kComputes).map(row, AUTOTUNE, kComputes).batch(8);
  ASSERT_NE(as_it_is_run(dataset), written(dataset));
  auto run = dataset.start({.threads = 1});
  std::int64_t rows = 0;
  while (const auto batch = run.next()) {
    for (const std::int64_t value : batch->values<std::int64_t>()) EXPECT_EQ(value, 2 * (rows++ / 4));
  }
  EXPECT_EQ(rows, 256);
  EXPECT_EQ(run.stats().copied_bytes, 0);
}

TEST(Fusion, OwnsWhatTheSourceLends) {
  const auto dataset = from_vector(std::vector<std::string>{"a", "b", "c"})
                           .map([](const std::string& text) { return text + text; }, AUTOTUNE, kComputes)
                           .map([](const std::string& text) { return text + "."; }, AUTOTUNE, kComputes);
  EXPECT_EQ(given(dataset, {}, [](const std::string& text) { return text; }),
            (std::vector<std::string>{"aa.", "bb.", "cc.", "3 and 0"}));
}

TEST(Fusion, IsToldByExplain) {
  const auto dataset = range(9).take(-1).map(twice, AUTOTUNE, {.blocks = false, .name = "double"}).filter(is_small);
  auto run = dataset.start();
  while (run.next()) {
  }
  const Explanation explanation = run.explain();
  EXPECT_EQ(explanation.rewrites,
            (std::vector<std::string>{"left out take (op 1)", "in one call map 'double' (op 2) + filter (op 3)"}));
  EXPECT_NE(
      to_text(explanation).find("rewrites: left out take (op 1); in one call map 'double' (op 2) + filter (op 3)\n"),
      std::string::npos);
  EXPECT_NE(to_json(explanation)
                .find(R"x("rewrites":["left out take (op 1)","in one call map 'double' (op 2) + filter (op 3)"])x"),
            std::string::npos);
  EXPECT_EQ(explanation.stages.back().name, "double+filter");
  EXPECT_EQ(explanation.stages.back().position, 2);
}

TEST(Fusion, ChangesNothingWhileKnobsMoveAndCallsAreLeftEarly) {
  const auto slow = [](std::int64_t x) {
    std::int64_t sum = x;
    for (int i = 0; i < 2000; ++i) sum = (sum * 31 + i) % 1'000'003;
    return sum;
  };
  const auto dataset = range(3000).map(slow, AUTOTUNE, kComputes).map(failing_at(4), AUTOTUNE, kComputes).take(1500);
  EXPECT_TRUE(is_the_same(dataset));
}

// Where elements turn slow, a call is left after a few of them, as soon as nobody wants them.
TEST(Fusion, OfElementsThatTurnSlowMakesFewThatNobodyWants) {
  std::atomic<bool> is_left = false;
  std::atomic<int> made_in_vain = 0;
  const auto slow = [&](std::int64_t x) {
    if (x >= 100'000) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    made_in_vain += is_left;
    return x;
  };
  {
    auto run = range(1'000'000)
                   .map(slow, AUTOTUNE, {.blocks = false})
                   .map([](std::int64_t x) { return x; }, AUTOTUNE, {.blocks = false})
                   .start({.threads = 2});
    for (int i = 0; i < 99'990; ++i) run.next();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    is_left = true;
  }
  EXPECT_LE(made_in_vain, 2 * 8);
}

TEST(Fusion, CountsWhatLiesBetweenTwoOps) {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  auto run = range(200)
                 .map([](std::int64_t) { return std::vector<char>(kBytes); }, AUTOTUNE, {.blocks = false})
                 .map([](const std::vector<char>& bytes) { return bytes.size(); }, AUTOTUNE, {.blocks = false})
                 .start({.memory_bytes = 8 * kBytes});
  while (run.next()) {
  }
  EXPECT_GE(run.stats().memory_peak, static_cast<std::int64_t>(kBytes));
  EXPECT_GE(run.stats().overshoot_bytes, 0);
}

}  // namespace
}  // namespace penstock
