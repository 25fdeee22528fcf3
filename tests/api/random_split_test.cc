// random_split(): parts without a common element.
#include <penstock/penstock.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "tests/engine/support.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using testing::read;
using testing::Texts;

constexpr ErrorCode invalid_split = ErrorCode::invalid_argument;

std::vector<std::int64_t> sorted_numbers(const Dataset<std::int64_t>& data) {
  std::vector<std::int64_t> numbers;
  for (const std::int64_t number : data) numbers.push_back(number);
  std::ranges::sort(numbers);
  return numbers;
}

TEST(RandomSplit, GivesEachElementToOnePart) {
  for (const std::int64_t count : {0, 1, 2, 3, 10, 1001}) {
    const auto parts = random_split(range(count), {0.7, 0.2, 0.1}, 7);
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(sorted_numbers(concatenate(parts)), sorted_numbers(range(count))) << count;
  }
}

TEST(RandomSplit, RoundsDownAndGivesWhatIsLeftToTheFirst) {
  const auto lengths = [](std::int64_t count, const std::vector<double>& fractions) {
    std::vector<std::int64_t> all;
    for (const auto& part : random_split(range(count), fractions, 1)) all.push_back(part.cardinality());
    return all;
  };
  using Lengths = std::vector<std::int64_t>;
  EXPECT_EQ(lengths(10, {0.9, 0.1}), (Lengths{9, 1}));
  EXPECT_EQ(lengths(10, {0.5, 0.25, 0.25}), (Lengths{6, 2, 2}));
  EXPECT_EQ(lengths(11, {0.25, 0.25, 0.25, 0.25}), (Lengths{3, 3, 3, 2}));
  EXPECT_EQ(lengths(1, {0.1, 0.9}), (Lengths{1, 0}));
  EXPECT_EQ(lengths(100, {1.0}), (Lengths{100}));
}

TEST(RandomSplit, DrawsTheSamePartsInEachEpochAndForEachSeed) {
  const auto first = [](std::uint64_t seed) { return random_split(range(100), {0.5, 0.5}, seed)[0]; };
  EXPECT_EQ(read(first(3), {.first_epoch = 5}), read(first(3)));
  EXPECT_NE(read(first(4)), read(first(3)));
  EXPECT_NE(sorted_numbers(first(3)), sorted_numbers(range(50))) << "they are drawn, not cut off";
}

TEST(RandomSplit, WorksOnPositions) {
  auto run = random_split(range(1'000'000'000), {0.999, 0.001}, 1)[1].start();
  EXPECT_TRUE(run.next());
  EXPECT_EQ(run.snapshot().stages.size(), 1u);
}

TEST(RandomSplit, SplitsAStreamToo) {
  const auto mapped = range(50).map([](std::int64_t x) { return 2 * x; });
  EXPECT_EQ(sorted_numbers(concatenate(random_split(mapped, {0.6, 0.4}, 2))), sorted_numbers(mapped));
}

TEST(RandomSplit, RefusesFractionsThatAreNone) {
  EXPECT_ERROR(random_split(range(9), {}, 1), invalid_split, "no fractions");
  EXPECT_ERROR(random_split(range(9), {0.5, 0.4}, 1), invalid_split, "must be 1, but is 0.9");
  EXPECT_ERROR(random_split(range(9), {1.5, -0.5}, 1), invalid_split, "above 0");
  EXPECT_ERROR(random_split(range(9), {std::numeric_limits<double>::quiet_NaN()}, 1), invalid_split, "above 0");
}

TEST(RandomSplit, RefusesWhatItCannotCount) {
  const auto some = range(9).filter([](std::int64_t x) { return x > 3; });
  EXPECT_ERROR(random_split(some, {0.5, 0.5}, 1), invalid_split, "unknown how many elements");
  EXPECT_ERROR(random_split(range(9).repeat(), {0.5, 0.5}, 1), invalid_split, "never end");
  EXPECT_EQ(sorted_numbers(random_split(some.assert_cardinality(5), {1.0}, 1)[0]), sorted_numbers(range(4, 9)));
}

TEST(RandomSplit, RefusesWhatHasNoOrderToSplit) {
  EXPECT_ERROR(random_split(range(9).shuffle(9, {.seed = 1}), {0.5, 0.5}, 1), invalid_split, "shuffle (op 1)");
  const auto any = range(9).map([](std::int64_t x) { return x; }, {.order = Order::arbitrary});
  EXPECT_ERROR(random_split(any, {0.5, 0.5}, 1), invalid_split, "map (op 1) does not keep one order");
}

}  // namespace
}  // namespace penstock
