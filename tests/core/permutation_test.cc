#include "lib/core/permutation.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "tests/support/environment.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using Positions = std::vector<std::uint64_t>;

Positions order_of(std::uint64_t n, const PermutationKey& key) {
  const KeyedPermutation permutation(n, key);
  Positions order;
  for (std::uint64_t i = 0; i < n; ++i) order.push_back(permutation(i));
  return order;
}

bool is_bijection(const KeyedPermutation& permutation) {
  std::vector<bool> seen(permutation.size());
  for (std::uint64_t i = 0; i < permutation.size(); ++i) {
    const std::uint64_t at = permutation(i);
    if (at >= permutation.size() || seen[at]) return false;
    seen[at] = true;
  }
  return true;
}

// How far sum((observed - expected)^2 / expected) lies above its mean, in standard deviations.
double chi_square_score(const std::vector<double>& observed, double expected, double freedom) {
  double sum = 0;
  for (const double o : observed) sum += (o - expected) * (o - expected) / expected;
  return (sum - freedom) / std::sqrt(2 * freedom);
}

TEST(KeyedPermutation, IsABijectionForEverySmallSize) {
  for (std::uint64_t n = 0; n <= 600; ++n)
    for (std::uint64_t key = 0; key < 8; ++key)
      ASSERT_TRUE(is_bijection(KeyedPermutation(n, {key, n}))) << n << " " << key;
}

TEST(KeyedPermutation, IsABijectionAroundPowersOfTwo) {
  for (unsigned bits = 10; bits <= 18; ++bits)
    for (const std::uint64_t n : {(1ull << bits) - 1, 1ull << bits, (1ull << bits) + 1})
      ASSERT_TRUE(is_bijection(KeyedPermutation(n, {1, 2}))) << n;
}

TEST(KeyedPermutation, IsABijectionOfImageNet) { EXPECT_TRUE(is_bijection(KeyedPermutation(1'281'167, {7, 0}))); }

TEST(KeyedPermutation, TellsWhatGoesToAPosition) {
  for (const std::uint64_t n : {1u, 2u, 50u, 256u, 257u, 300u, 1000u, 5000u})
    for (std::uint64_t key = 0; key < 20; ++key) {
      const KeyedPermutation permutation(n, {key, 3});
      for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(permutation.inverse(permutation(i)), i) << n << " " << key;
    }
}

TEST(KeyedPermutation, StaysInsideTheLargestSize) {
  const std::uint64_t n = std::uint64_t{1} << 62;
  const KeyedPermutation permutation(n, {1, 2});
  for (std::uint64_t i = n - 1000; i < n; ++i) EXPECT_LT(permutation(i), n);
  EXPECT_ERROR(KeyedPermutation(n + 1, {1, 2}), ErrorCode::invalid_argument, "permute");
}

TEST(KeyedPermutation, DependsOnEveryBitOfTheKey) {
  for (const std::uint64_t n : {50u, 1000u}) {
    const Positions order = order_of(n, {0, 0});
    for (unsigned bit = 0; bit < 64; ++bit) {
      EXPECT_NE(order_of(n, {std::uint64_t{1} << bit, 0}), order);
      EXPECT_NE(order_of(n, {0, std::uint64_t{1} << bit}), order);
    }
  }
}

// Computed by an independent program.
TEST(KeyedPermutation, NeverChangesBetweenReleases) {
  EXPECT_EQ(order_of(10, {7, 0}), (Positions{1, 4, 5, 8, 3, 2, 7, 0, 6, 9}));
  const KeyedPermutation large(1'281'167, {7, std::uint64_t{3} << 32});
  EXPECT_EQ((Positions{large(0), large(1), large(1'281'166)}), (Positions{1'098'841, 364'788, 1'132'313}));
}

// Epochs are keys that differ in few bits: {seed, epoch << 32}.
TEST(KeyedPermutation, ReachesEachOrderOfFiveEquallyOften) {
  std::map<Positions, double> hits;
  for (std::uint64_t epoch = 0; epoch < 120 * 200; ++epoch) hits[order_of(5, {7, epoch << 32})] += 1;
  std::vector<double> counts;
  for (const auto& [order, count] : hits) counts.push_back(count);
  ASSERT_EQ(counts.size(), 120u);
  EXPECT_LT(chi_square_score(counts, 200, 119), 4);
}

bool is_odd(const Positions& order) {
  std::vector<bool> seen(order.size());
  std::uint64_t exchanges = 0;
  for (std::uint64_t i = 0; i < order.size(); ++i)
    for (std::uint64_t j = i; !seen[j]; j = order[j]) {
      seen[j] = true;
      exchanges += order[j] != i;
    }
  return exchanges % 2 == 1;
}

TEST(KeyedPermutation, IsAsOftenOddAsEven) {
  for (const std::uint64_t n : {2u, 50u, 127u, 128u, 256u, 257u, 400u, 511u, 512u, 1023u, 1024u}) {
    constexpr int epochs = 2000;
    int odd = 0;
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) odd += is_odd(order_of(n, {42, epoch << 32}));
    EXPECT_LT(std::abs(odd - epochs / 2) / std::sqrt(epochs / 4.0), 4) << n << ": " << odd << " of " << epochs;
  }
}

// Four positions that differ in two halves of their bits, which a network changes in turn: their images' sum would be
// zero too often. Of a random order it is with probability 1 / (n - 3): the last image is the sum of the others, or it
// is not.
TEST(KeyedPermutation, ShowsNoRectangles) {
  const auto epochs = static_cast<std::uint64_t>(test::how_many(300'000));
  for (const unsigned bits : {7u, 8u, 9u}) {
    const std::uint64_t n = std::uint64_t{1} << bits;
    const std::uint64_t step = std::uint64_t{1} << bits / 2;
    double zeros = 0;
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
      const KeyedPermutation order(n, {123, epoch << 32});
      zeros += (order(0) ^ order(1) ^ order(step) ^ order(step | 1)) == 0;
    }
    const double expected = static_cast<double>(epochs) / static_cast<double>(n - 3);
    EXPECT_LT(std::abs(zeros - expected) / std::sqrt(expected), 5) << n << ": " << zeros << " instead of " << expected;
  }
}

TEST(KeyedPermutation, PutsEachPositionEverywhereEquallyOften) {
  for (const std::uint64_t n : {16u, 65u, 100u, 128u}) {
    constexpr std::uint64_t epochs = 20'000;
    std::vector<double> places(n * n);
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
      const KeyedPermutation permutation(n, {42, epoch << 32});
      for (std::uint64_t i = 0; i < n; ++i) places[i * n + permutation(i)] += 1;
    }
    const auto free = static_cast<double>((n - 1) * (n - 1));
    EXPECT_LT(chi_square_score(places, static_cast<double>(epochs) / static_cast<double>(n), free), 5) << n;
  }
}

TEST(KeyedPermutation, SeparatesNeighboursByAnyDistance) {
  for (const std::uint64_t n : {16u, 65u, 100u, 1000u}) {
    const std::uint64_t epochs = 2'000'000 / n;
    std::vector<double> distances(n - 1);
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
      const Positions order = order_of(n, {42, epoch << 32});
      for (std::uint64_t i = 1; i < n; ++i) distances[(order[i] + n - order[i - 1]) % n - 1] += 1;
    }
    const auto freedom = static_cast<double>(n - 2);
    EXPECT_LT(chi_square_score(distances, static_cast<double>(epochs), freedom), 5) << n;
  }
}

TEST(KeyedPermutation, LeavesNoTrendInALargeOrder) {
  constexpr std::uint64_t n = 300'000;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const KeyedPermutation permutation(n, {seed, 0});
    const auto centred = [](std::uint64_t i) { return (static_cast<double>(i) + 0.5) / n - 0.5; };
    double with_place = 0;
    double with_neighbour = 0;
    for (std::uint64_t i = 1; i < n; ++i) {
      with_place += centred(permutation(i)) * centred(i);
      with_neighbour += centred(permutation(i)) * centred(permutation(i - 1));
    }
    EXPECT_LT(std::abs(with_place) * 12 / std::sqrt(n), 5) << seed;
    EXPECT_LT(std::abs(with_neighbour) * 12 / std::sqrt(n), 5) << seed;
  }
}

}  // namespace
}  // namespace penstock
