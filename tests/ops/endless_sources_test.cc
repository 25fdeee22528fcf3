// counter and random: sources over positions, as range is one, but without an end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/penstock.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <vector>

namespace penstock {
namespace {

using ::testing::ElementsAre;
using Numbers = std::vector<std::int64_t>;

Numbers first(const Dataset<std::int64_t>& data, std::int64_t count, RunOptions options = {}) {
  Numbers numbers;
  auto run = data.take(count).start(options);
  while (const auto number = run.next()) numbers.push_back(*number);
  return numbers;
}

TEST(Counter, CountsFromStartByStep) {
  EXPECT_THAT(first(counter(), 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(first(counter(10, -5), 4), ElementsAre(10, 5, 0, -5));
  EXPECT_THAT(first(counter(7, 0), 2), ElementsAre(7, 7));
}

TEST(Counter, WrapsAroundAt64Bits) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(first(counter(kMost), 2), ElementsAre(kMost, std::numeric_limits<std::int64_t>::min()));
}

TEST(Counter, IsEndless) {
  EXPECT_EQ(counter().cardinality(), INFINITE_CARDINALITY);
  EXPECT_EQ(counter().shard(3, 1).skip(5).cardinality(), INFINITE_CARDINALITY);
  EXPECT_EQ(counter().take(5).cardinality(), 5);
}

TEST(Counter, IsShardedAndSkippedByPosition) {
  EXPECT_THAT(first(counter().shard(3, 2), 3), ElementsAre(2, 5, 8));
  EXPECT_THAT(first(counter().skip(std::int64_t{1} << 60), 2),
              ElementsAre(std::int64_t{1} << 60, (std::int64_t{1} << 60) + 1));
}

TEST(Counter, IsShuffledWithinAWindow) {
  const Numbers numbers = first(counter().shuffle(10, {.seed = 3}), 1000);
  EXPECT_EQ(std::set(numbers.begin(), numbers.end()).size(), 1000u);
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_LE(numbers[i], static_cast<std::int64_t>(i) + 9);
}

TEST(Counter, IsResumedAnywhere) {
  const auto data = counter(5, 2).map([](std::int64_t x) { return 3 * x; });
  auto run = data.start();
  for (int i = 0; i < 100; ++i) run.next();
  auto rest = data.start({.resume_from = std::make_shared<Checkpoint>(run.checkpoint())});
  EXPECT_EQ(rest.next(), 3 * (5 + 2 * 100));
}

// Philox4x32-10 by hand, from (seed, position): SC'11, section 3.3; the words of the counter are in ops/random.cc.
TEST(RandomSource, DependsOnSeedAndPositionAlone) {
  const Numbers numbers = first(random(7), 100);
  for (std::uint32_t i = 0; i < 100; ++i) {
    const PhiloxCounter words = philox4x32({0, i, 0x72616E64, 0}, {0, 7});
    EXPECT_EQ(numbers[i], static_cast<std::int64_t>((std::uint64_t{words[0]} << 32 | words[1]) >> 1)) << i;
  }
  EXPECT_EQ(first(random(7).skip(40), 10), Numbers(numbers.begin() + 40, numbers.begin() + 50));
  EXPECT_NE(first(random(8), 100), numbers);
}

TEST(RandomSource, GivesTheSameInEachPassAndEpoch) {
  const auto data = random(1).take(3).repeat(2);
  const Numbers once = first(data, 6), again = first(data, 6, {.first_epoch = 5});
  EXPECT_EQ(once, again);
  EXPECT_EQ(Numbers(once.begin(), once.begin() + 3), Numbers(once.begin() + 3, once.end()));
}

TEST(RandomSource, IsSpreadEvenlyOverAllThatIsNotNegative) {
  constexpr std::int64_t kDraws = 4000;
  std::vector<int> counts(16);
  for (const std::int64_t number : first(random(3), kDraws)) {
    ASSERT_GE(number, 0);
    ++counts[static_cast<std::size_t>(number >> 59)];
  }
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 16, 5 * 16);  // five standard deviations
}

TEST(RandomSource, IsEndless) { EXPECT_EQ(random(1).cardinality(), INFINITE_CARDINALITY); }

}  // namespace
}  // namespace penstock
