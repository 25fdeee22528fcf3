#include <gtest/gtest.h>
#include <penstock/random.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using Words = std::vector<std::uint32_t>;

Words draw(CounterRng rng, std::size_t count) {
  Words words(count);
  std::ranges::generate(words, rng);
  return words;
}

// TensorFlow's generator: tfdata.md 2.5.
CounterRng tf_rng(std::uint64_t seed, std::uint64_t seed2) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  return {{low(seed), high(seed)}, {0, 0, low(seed2), high(seed2)}};
}

// The known answers of Random123 (kat_vectors, philox4x32 10).
static_assert(philox4x32({}, {}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
              PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
static_assert(make_rng(1, 2, 3, 4).next_u32() == make_rng(1, 2, 3, 4)());

TEST(CounterRng, GivesTensorFlowsNumbers) {
  EXPECT_EQ(draw(tf_rng(0, 0), 4), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(draw(tf_rng(1, 2), 8),
            (Words{3878945999, 2364392915, 1057429302, 168492509, 3082076531, 3674517586, 1146363793, 235617523}));
  EXPECT_EQ(draw(tf_rng(87654321, 42), 6),
            (Words{2985944072, 4132877644, 929418493, 249609589, 146598941, 4149265688}));
}

TEST(CounterRng, CarriesFromEachCounterWordIntoTheNext) {
  constexpr std::uint32_t full = 0xffffffff;
  const auto second_block = [](PhiloxCounter start) {
    CounterRng rng({}, start);
    rng.discard(4);
    return draw(rng, 4);
  };
  EXPECT_EQ(second_block({full, 5, 0, 0}), draw(CounterRng({}, {0, 6, 0, 0}), 4));
  EXPECT_EQ(second_block({full, full, full, 7}), draw(CounterRng({}, {0, 0, 0, 8}), 4));
}

TEST(CounterRng, ContinuesAfterDiscardAsIfItHadDrawn) {
  const Words words = draw(make_rng(1, 0, 0, 0), 40);
  for (std::uint64_t skipped = 0; skipped < 12; ++skipped) {
    for (std::uint64_t drawn = 0; drawn < 6; ++drawn) {
      CounterRng rng = make_rng(1, 0, 0, 0);
      for (std::uint64_t i = 0; i < drawn; ++i) rng();
      rng.discard(skipped);
      EXPECT_EQ(rng.position(), drawn + skipped);
      EXPECT_EQ(rng(), words[drawn + skipped]);
      EXPECT_EQ(rng(), words[drawn + skipped + 1]);
    }
  }
}

TEST(CounterRng, PutsTheFirstDrawInTheLowHalf) { EXPECT_EQ(tf_rng(0, 0).next_u64(), 0xe169c58d6627e8d5u); }

TEST(MakeRng, ChangesWithEachOfItsArguments) {
  std::set<std::uint64_t> firsts;
  for (std::uint32_t i = 0; i < 50; ++i) {
    firsts.insert(make_rng(7 + i, 0, 0, 0, 0).next_u64());
    firsts.insert(make_rng(7, 1 + i, 0, 0, 0).next_u64());
    firsts.insert(make_rng(7, 0, 1 + i, 0, 0).next_u64());
    firsts.insert(make_rng(7, 0, 0, 1 + i, 0).next_u64());
    firsts.insert(make_rng(7, 0, 0, 0, 1 + i).next_u64());
  }
  EXPECT_EQ(firsts.size(), 250u);
}

// Computed by an independent program from the formulas in random.h.
TEST(MakeRng, NeverChangesBetweenReleases) {
  EXPECT_EQ(draw(make_rng(0, 0, 0, 0, 0), 2), (Words{4205697277, 4020809187}));
  EXPECT_EQ(draw(make_rng(7, 1, 2, 3, 4), 2), (Words{4261739020, 1115525553}));
}

TEST(MakeRng, GivesNeighboursUnrelatedNumbers) {
  double sum = 0;
  constexpr int count = 100'000;
  for (int i = 0; i < count; ++i)
    sum += (make_rng(1, 0, 0, i).uniform() - 0.5) * (make_rng(1, 0, 0, i + 1).uniform() - 0.5);
  EXPECT_LT(std::abs(sum * 12 / std::sqrt(count)), 4);
}

TEST(Uniform, FillsTheUnitInterval) {
  CounterRng rng = make_rng(3, 0, 0, 0);
  double sum = 0;
  double least = 1;
  double most = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double x = rng.uniform();
    sum += x;
    least = std::min(least, x);
    most = std::max(most, x);
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.004);
  EXPECT_GE(least, 0);
  EXPECT_LT(least, 1e-3);
  EXPECT_LT(most, 1);
  EXPECT_GT(most, 1 - 1e-3);
}

TEST(UniformInteger, HitsEachValueEquallyOften) {
  for (const int n : {1, 2, 3, 7, 10, 33}) {
    CounterRng rng = make_rng(5, 0, 0, n);
    std::vector<double> hits(static_cast<std::size_t>(n));
    const int trials = 10'000 * n;
    for (int i = 0; i < trials; ++i) hits[static_cast<std::size_t>(rng.uniform(-1, n - 1) + 1)] += 1;
    double chi_square = 0;
    for (const double h : hits) chi_square += (h - 10'000) * (h - 10'000) / 10'000;
    EXPECT_LT(chi_square, n - 1 + 5 * std::sqrt(2.0 * n)) << n;
  }
}

// Not a lambda, which would be constexpr: g++ would evaluate it while compiling, in minutes and
// gigabytes.
int hits_of_the_lowest_third(std::uint64_t range) {
  CounterRng rng = make_rng(6, 0, 0, 0);
  int hits = 0;
  for (int i = 0; i < 30'000; ++i) hits += rng.uniform(std::uint64_t{0}, range) < range / 3 ? 1 : 0;
  return hits;
}

// With range 3 * 2^30, a plain multiplication or remainder hits one third of the values twice as
// often.
TEST(UniformInteger, HasNoBiasInRangesNearTheWidthOfADraw) {
  EXPECT_NEAR(hits_of_the_lowest_third(std::uint64_t{3} << 30), 10'000, 400);
  EXPECT_NEAR(hits_of_the_lowest_third(std::uint64_t{3} << 62), 10'000, 400);
  EXPECT_NEAR(hits_of_the_lowest_third(std::uint64_t{3} << 40), 10'000, 400);
}

TEST(UniformInteger, WorksAtTheEndsOfEachType) {
  using Limits = std::numeric_limits<std::int64_t>;
  CounterRng rng = make_rng(8, 0, 0, 0);
  bool negative = false;
  bool positive = false;
  for (int i = 0; i < 100; ++i) {
    const std::int64_t x = rng.uniform(Limits::min(), Limits::max());
    negative |= x < 0;
    positive |= x > 0;
    EXPECT_EQ(rng.uniform(Limits::max() - 1, Limits::max()), Limits::max() - 1);
    EXPECT_LT(rng.uniform(std::uint8_t{0}, std::uint8_t{255}), 255);
  }
  EXPECT_TRUE(negative && positive);
}

TEST(UniformInteger, TakesOneDrawForARangeUpTo2To32) {
  CounterRng rng = make_rng(9, 0, 0, 0);
  CounterRng copy = rng;
  EXPECT_EQ(rng.uniform(std::uint64_t{0}, std::uint64_t{1} << 32), copy());
  EXPECT_EQ(rng.position(), 1u);
}

TEST(UniformReal, StaysBelowItsUpperEnd) {
  CounterRng rng = make_rng(10, 0, 0, 0);
  for (int i = 0; i < 10'000; ++i) {
    const float x = rng.uniform(1.0f, std::nextafter(1.0f, 2.0f));
    EXPECT_EQ(x, 1.0f);
    const double y = rng.uniform(-2.5, 4.0);
    EXPECT_TRUE(y >= -2.5 && y < 4.0);
  }
}

TEST(Uniform, RefusesAnEmptyRange) {
  CounterRng rng;
  EXPECT_ERROR(rng.uniform(3, 3), ErrorCode::invalid_argument, "lo < hi");
  EXPECT_ERROR(rng.uniform(4, 3), ErrorCode::invalid_argument, "lo < hi");
  EXPECT_ERROR(rng.uniform(0.0, std::nan("")), ErrorCode::invalid_argument, "lo < hi");
}

TEST(CounterRng, DrivesTheStandardLibrary) {
  std::vector<int> cards(52);
  std::iota(cards.begin(), cards.end(), 0);
  std::ranges::shuffle(cards, make_rng(11, 0, 0, 0));
  EXPECT_FALSE(std::ranges::is_sorted(cards));
  CounterRng rng = make_rng(12, 0, 0, 0);
  EXPECT_LT(std::abs(std::normal_distribution<>()(rng)), 10);
}

}  // namespace
}  // namespace penstock
