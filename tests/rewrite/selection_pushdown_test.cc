// take, skip and shard go before maps that cannot fail.
#include <gtest/gtest.h>
#include <penstock/penstock.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "tests/rewrite/support.h"

namespace penstock {
namespace {

using testing::as_it_is_run;
using testing::is_the_same;
using testing::stamped;
using testing::written;

constexpr Rewrites kPushdownAlone{
    .noop_elimination = false, .selection_pushdown = true, .map_fusion = false, .map_and_filter_fusion = false};

const auto kTwice = [](std::int64_t x) noexcept { return 2 * x; };
const auto kMayFail = [](std::int64_t x) {
  if (x % 3 == 1) throw std::runtime_error("one of three");
  return x;
};

TEST(SelectionPushdown, GoesDownToThePositionsOfTheSource) {
  const auto dataset = range(40).map(kTwice).map(kTwice).shard(2, 1).skip(3).take(5);
  EXPECT_EQ(written(dataset),
            "0 range start=0, stop=40, step=1\n"
            "1 map parallelism=auto\n"
            "2 map parallelism=auto\n"
            "3 shard num_shards=2, index=1\n"
            "4 skip count=3\n"
            "5 take count=5\n");
  EXPECT_EQ(as_it_is_run(dataset, kPushdownAlone),
            "0 range start=0, stop=40, step=1\n"
            "3 shard num_shards=2, index=1\n"
            "4 skip count=3\n"
            "5 take count=5\n"
            "1 map parallelism=auto\n"
            "2 map parallelism=auto\n");
  EXPECT_TRUE(is_the_same(dataset, kPushdownAlone));
}

TEST(SelectionPushdown, CallsNoFunctionForWhatIsLeftOut) {
  auto calls = std::make_shared<std::int64_t>(0);
  const auto counted = [calls](std::int64_t x) noexcept { return ++*calls, x; };
  const auto dataset = range(100).map(counted).shard(10, 3);
  auto run = dataset.start({.serial = true});
  while (run.next()) {
  }
  EXPECT_EQ(*calls, 10);
}

TEST(SelectionPushdown, BelievesWhoSaysThatAFunctionCannotFail) {
  const auto dataset = range(9).map(kMayFail, AUTOTUNE, {.cannot_fail = true}).take(3);
  EXPECT_EQ(as_it_is_run(dataset, kPushdownAlone),
            "0 range start=0, stop=9, step=1\n"
            "2 take count=3\n"
            "1 map parallelism=auto\n");
}

TEST(SelectionPushdown, StaysBehindWhatMightFail) {
  const auto might = range(9).map(kMayFail).take(3);
  EXPECT_EQ(as_it_is_run(might, kPushdownAlone), written(might));
  const auto to_text = range(9).map([](std::int64_t x) noexcept { return std::string(1, char(x)); }).skip(3);
  EXPECT_EQ(as_it_is_run(to_text, kPushdownAlone), written(to_text)) << "memory of a result is looked at";
  const auto flat = range(9).flat_map([](std::int64_t x) noexcept { return std::vector{x}; }).shard(2, 0);
  EXPECT_EQ(as_it_is_run(flat, kPushdownAlone), written(flat));
}

TEST(SelectionPushdown, StaysBehindWhatHangsOnTheCallsBefore) {
  const auto counting =
      range(9).map([n = std::int64_t{0}](std::int64_t x) mutable noexcept { return x + n++; }, 1).skip(3);
  EXPECT_EQ(as_it_is_run(counting, kPushdownAlone), written(counting));
  const auto unordered = range(9).map(kTwice, AUTOTUNE, {.order = Order::arbitrary}).take(3);
  EXPECT_EQ(as_it_is_run(unordered, kPushdownAlone), written(unordered));
}

TEST(SelectionPushdown, StopsBehindAnOpThatMightFail) {
  const auto dataset = range(30).map(kMayFail).map(kTwice).take(5).shard(2, 0);
  EXPECT_EQ(as_it_is_run(dataset, kPushdownAlone),
            "0 range start=0, stop=30, step=1\n"
            "1 map parallelism=auto\n"
            "3 take count=5\n"
            "4 shard num_shards=2, index=0\n"
            "2 map parallelism=auto\n");
  EXPECT_TRUE(is_the_same(dataset, kPushdownAlone)) << "errors do not count";
}

struct Rows {
  std::int64_t size() const { return 9; }
  std::int64_t at(std::int64_t i) const { return kMayFail(i); }
};

// There a position would be counted that is an error as it is written, which is not.
TEST(SelectionPushdown, DoesNotBecomePositionsOfASourceThatMightFail) {
  const auto dataset = from_indexed(Rows()).map(kTwice).map(kTwice).skip(2);
  EXPECT_EQ(as_it_is_run(dataset, kPushdownAlone),
            "0 from_indexed 9 elements\n"
            "1 map parallelism=auto\n"
            "3 skip count=2\n"
            "2 map parallelism=auto\n");
  EXPECT_TRUE(is_the_same(dataset, kPushdownAlone));
}

TEST(SelectionPushdown, DoesNotGoBeforeAMapThatMayGetWhatTheSourceLends) {
  const auto dataset = from_vector(std::vector<std::int64_t>{1, 2, 3, 4})
                           .filter([](std::int64_t x) { return x > 1; })
                           .map(kTwice)
                           .shard(2, 1);
  EXPECT_EQ(as_it_is_run(dataset, kPushdownAlone), written(dataset));
}

TEST(SelectionPushdown, LeavesWhatPromisesATypeInItsPlace) {
  const auto half = [](std::int64_t x) noexcept { return 0.5 * static_cast<double>(x); };
  EXPECT_TRUE(is_the_same(range(10).map(half).then<double>(ops::take(3)), kPushdownAlone));
}

// The source's value is copied before the function takes it.
struct ThrowsWhenCopied {
  explicit ThrowsWhenCopied(std::int64_t x) : value(x) {}
  ThrowsWhenCopied(const ThrowsWhenCopied& other) : value(other.value) {
    if (is_armed && value % 2 == 1) throw std::runtime_error("odd");
  }
  ThrowsWhenCopied(ThrowsWhenCopied&&) noexcept = default;
  std::int64_t value;
  static inline bool is_armed = false;
};

TEST(SelectionPushdown, DoesNotGoBeforeAMapWhoseElementsMayFailToBeCopied) {
  std::vector<ThrowsWhenCopied> values;
  for (std::int64_t x = 0; x < 8; ++x) values.emplace_back(x);
  const auto dataset =
      from_vector(std::move(values)).map([](ThrowsWhenCopied&& x) noexcept { return x.value; }).take(3);
  ThrowsWhenCopied::is_armed = true;
  EXPECT_TRUE(is_the_same(dataset, kPushdownAlone));
  ThrowsWhenCopied::is_armed = false;
}

TEST(SelectionPushdown, KeepsRandomNumbersAndPasses) {
  EXPECT_TRUE(is_the_same(range(20).shuffle(20, {.seed = 1}).map(stamped).map(kTwice).skip(2).take(9).repeat(3),
                          kPushdownAlone));
  EXPECT_TRUE(is_the_same(range(20).repeat(2).map(stamped).shard(3, 1), kPushdownAlone));
  EXPECT_TRUE(is_the_same(range(20).map(kMayFail).repeat().map(stamped).skip(5).take(40), kPushdownAlone));
}

TEST(SelectionPushdown, MovesWithinItsInputOfAMerge) {
  const auto dataset = range(9).map(kTwice).take(3).concatenate(range(5).map(kTwice)).take(6);
  EXPECT_EQ(as_it_is_run(dataset, kPushdownAlone),
            "0 range start=0, stop=9, step=1\n"
            "2 take count=3\n"
            "1 map parallelism=auto\n"
            "3 range start=0, stop=5, step=1\n"
            "4 map parallelism=auto\n"
            "5 concatenate of 1, 4\n"
            "6 take count=6\n");
  EXPECT_TRUE(is_the_same(dataset, kPushdownAlone));
}

TEST(SelectionPushdown, LeavesCheckpointsAsTheyAre) {
  const auto dataset = range(40).map(kTwice).take(20).map(kMayFail);
  for (const Rewrites& first : {Rewrites(), no_rewrites()}) {
    for (const Rewrites& second : {Rewrites(), no_rewrites()}) {
      auto run = dataset.start({.on_error = skip_all(), .rewrites = first});
      for (int i = 0; i < 5; ++i) run.next();
      const auto place = std::make_shared<const Checkpoint>(run.checkpoint());
      auto whole = dataset.start({.on_error = skip_all(), .rewrites = no_rewrites()});
      for (int i = 0; i < 5; ++i) whole.next();
      auto rest = dataset.start({.on_error = skip_all(), .resume_from = place, .rewrites = second});
      while (auto value = whole.next()) EXPECT_EQ(rest.next(), value);
      EXPECT_EQ(rest.next(), std::nullopt);
    }
  }
}

}  // namespace
}  // namespace penstock
