#include <penstock/ops.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "lib/core/permutation.h"
#include "lib/graph/traits.h"
#include "tests/ops/op_checks.h"
#include "tests/support/expect_error.h"
#include "tests/support/recording_emitter.h"

namespace penstock {
namespace {

using testing::counting;
using testing::INF;
using testing::order_of;
using testing::Positions;
using testing::StreamRun;
using testing::UNK;

OpRef shuffle(std::int64_t buffer_size, std::uint64_t seed, bool reshuffle = true) {
  return ops::shuffle(buffer_size, {.seed = seed, .reshuffle_each_epoch = reshuffle});
}

Positions integers(const testing::RecordingEmitter& out) {
  Positions values;
  for (const Slot& slot : out.slots) values.push_back(slot.value.get<std::int64_t>());
  return values;
}

Positions stream_order(const OpRef& op, std::int64_t n, std::uint32_t epoch = 0, std::uint32_t pass = 0) {
  return integers(StreamRun(op).pass(counting(n), epoch, pass));
}

Positions sorted(Positions values) {
  std::sort(values.begin(), values.end());
  return values;
}

// ------------------------------------------------------------------------------------------------
// permutations

TEST(Shuffle, GivesEachElementExactlyOnce) {
  for (std::int64_t n : {0, 1, 2, 3, 17, 100})
    for (std::int64_t buffer : {1, 2, 3, 16, 17, 1000})
      for (std::uint64_t seed : {0u, 7u}) {
        SCOPED_TRACE(::testing::Message() << n << " elements, buffer " << buffer << ", seed " << seed);
        EXPECT_EQ(sorted(stream_order(shuffle(buffer, seed), n)), testing::first_positions(n));
        EXPECT_EQ(sorted(order_of(shuffle(buffer, seed), n)), testing::first_positions(n));
      }
}

TEST(Shuffle, WithABufferOfOneKeepsTheOrderAndDelaysNothing) {
  EXPECT_EQ(stream_order(shuffle(1, 7), 50), testing::first_positions(50));
  EXPECT_EQ(order_of(shuffle(1, 7), 50), testing::first_positions(50));
  StreamRun run(shuffle(1, 7));
  testing::RecordingEmitter out;
  run.state().begin_pass(out);
  run.state().element(testing::element_slot(Element(std::int64_t{3}), {}), out);
  EXPECT_EQ(out.text(testing::print_integer), "3");
}

TEST(Shuffle, LetsNoElementLeaveMoreThanBufferSizeMinusOnePlacesEarly) {
  for (std::int64_t buffer : {2, 5, 20})
    for (const Positions& order : {stream_order(shuffle(buffer, 3), 200), order_of(shuffle(buffer, 3), 200)}) {
      std::int64_t earliest = 0;
      for (std::size_t out = 0; out < order.size(); ++out)
        earliest = std::max(earliest, order[out] - static_cast<std::int64_t>(out));
      EXPECT_EQ(earliest, buffer - 1);
    }
}

TEST(Shuffle, OverAStreamAndOverPositionsIsTheSameWhereTheWindowIsSmaller) {
  for (std::int64_t buffer : {1, 2, 7, 49})
    EXPECT_EQ(stream_order(shuffle(buffer, 11), 50, 3, 2), order_of(shuffle(buffer, 11), 50, 3, 2)) << buffer;
}

TEST(Shuffle, OfAllElementsNeedsNoNumber) {
  EXPECT_EQ(order_of(shuffle(UNK, 7), 20), order_of(shuffle(20, 7), 20));
  EXPECT_EQ(sorted(stream_order(shuffle(UNK, 7), 20)), testing::first_positions(20));
  EXPECT_NE(stream_order(shuffle(UNK, 7), 20), testing::first_positions(20));
}

TEST(Shuffle, OverPositionsGivesTheSameFromEveryStart) {
  for (std::int64_t n : {0, 1, 2, 9, 31})
    for (std::int64_t buffer : {1, 4, 30, 31, 32}) {
      SCOPED_TRACE(::testing::Message() << n << " positions, buffer " << buffer);
      const OpRef op = shuffle(buffer, 5);
      const auto sequence = testing::over_positions({op}, n);
      testing::expect_pass(*sequence, 2, 1, order_of(op, n, 2, 1));
      testing::expect_pass(*sequence, 3, 0, order_of(op, n, 3, 0));
    }
}

TEST(Shuffle, FindsAnyPlaceOfAHugePermutationAtOnce) {
  constexpr std::int64_t huge = std::int64_t{1} << 61;
  const auto sequence = testing::over_positions({shuffle(huge, 7)}, huge);
  sequence->begin_pass(0, 0);
  sequence->skip(huge - 1);
  const auto last = sequence->next();
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(sequence->at(huge - 1), last);
  EXPECT_EQ(sequence->next(), std::nullopt);
}

// ------------------------------------------------------------------------------------------------
// seeds

using Order = Positions (*)(const OpRef&, std::int64_t, std::uint32_t, std::uint32_t);

struct Form {
  const char* name;
  std::int64_t buffer;
  Order order;
};

class ShuffleSeeds : public ::testing::TestWithParam<Form> {
 protected:
  Positions order(std::uint64_t seed, bool reshuffle, std::uint32_t epoch, std::uint32_t pass) const {
    return GetParam().order(shuffle(GetParam().buffer, seed, reshuffle), 100, epoch, pass);
  }
};

TEST_P(ShuffleSeeds, EqualSeedsGiveEqualOrders) { EXPECT_EQ(order(7, true, 2, 1), order(7, true, 2, 1)); }

TEST_P(ShuffleSeeds, EverySeedGivesAnotherOrder) {
  std::set<Positions> orders;
  for (std::uint64_t bit = 0; bit < 64; ++bit) orders.insert(order(std::uint64_t{1} << bit, true, 0, 0));
  orders.insert(order(0, true, 0, 0));
  EXPECT_EQ(orders.size(), 65u);
}

TEST_P(ShuffleSeeds, ReshufflesEachEpochAndPassByDefault) {
  std::set<Positions> orders;
  for (std::uint32_t epoch = 0; epoch < 5; ++epoch)
    for (std::uint32_t pass = 0; pass < 5; ++pass) orders.insert(order(7, true, epoch, pass));
  EXPECT_EQ(orders.size(), 25u);
}

TEST_P(ShuffleSeeds, KeepsOneOrderIfToldSo) {
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch)
    for (std::uint32_t pass = 0; pass < 3; ++pass)
      EXPECT_EQ(order(7, false, epoch, pass), order(7, false, 0, 0)) << epoch << ", " << pass;
  EXPECT_NE(order(7, false, 0, 0), order(8, false, 0, 0));
}

INSTANTIATE_TEST_SUITE_P(Forms, ShuffleSeeds,
                         ::testing::Values(Form{"Stream", 30, stream_order}, Form{"Window", 30, order_of},
                                           Form{"Permutation", 100, order_of}),
                         [](const auto& each) { return each.param.name; });

// By another program, from the headers alone: Philox4x32-10 keyed as make_rng() says, Lemire's draws, a window whose
// last value takes the place of the one that is drawn. What was trained with a seed must be repeatable with the next
// release.
TEST(Shuffle, DrawsTheOrdersOfItsSeedForEver) {
  const auto expect_orders = [](Order order) {
    const OpRef op = shuffle(5, 7);
    EXPECT_EQ(order(op, 12, 0, 0), (Positions{2, 3, 1, 6, 4, 9, 10, 5, 7, 0, 8, 11}));
    EXPECT_EQ(order(op, 12, 2, 0), (Positions{1, 0, 5, 4, 6, 9, 8, 10, 2, 3, 11, 7}));
    EXPECT_EQ(order(op, 12, 0, 2), (Positions{3, 5, 2, 4, 0, 1, 7, 11, 6, 10, 9, 8}));
    EXPECT_EQ(order(op, 12, 3, 1), (Positions{4, 2, 6, 0, 8, 3, 10, 11, 7, 1, 5, 9}));
    EXPECT_EQ(order(shuffle(5, 7, false), 12, 3, 1), order(op, 12, 0, 0));
  };
  expect_orders(stream_order);
  expect_orders(order_of);
}

TEST(Shuffle, OfAllPositionsIsThePermutationOfItsSeedEpochAndPass) {
  const auto permutation = [](std::uint64_t seed, std::uint64_t when) {
    const KeyedPermutation order(100, {seed, when});
    Positions positions;
    for (std::uint64_t i = 0; i < order.size(); ++i) positions.push_back(static_cast<std::int64_t>(order(i)));
    return positions;
  };
  EXPECT_EQ(order_of(shuffle(100, 7), 100, 3, 1), permutation(7, std::uint64_t{3} << 32 | 1));
  EXPECT_EQ(order_of(shuffle(100, 7), 100, 0, 2), permutation(7, 2));
  EXPECT_EQ(order_of(shuffle(100, 7, false), 100, 3, 1), permutation(7, 0));
}

TEST(Shuffle, TakesEpochAndPassFromTheFirstElementOfAPass) {
  StreamRun run(shuffle(5, 7));
  EXPECT_EQ(integers(run.pass(counting(20), 1, 0)), stream_order(shuffle(5, 7), 20, 1, 0));
  EXPECT_EQ(integers(run.pass(counting(20), 2, 4)), stream_order(shuffle(5, 7), 20, 2, 4));
}

TEST(Shuffle, DrawsASeedOfItsOwnIfItHasNone) {
  const OpRef first = ops::shuffle(1000, {});
  const OpRef second = ops::shuffle(1000, {});
  EXPECT_NE(first->parameters(), second->parameters());
  EXPECT_NE(order_of(first, 100), order_of(second, 100));
  EXPECT_EQ(order_of(first, 100), order_of(first, 100));
  EXPECT_THAT(first->parameters(), ::testing::MatchesRegex("buffer_size=1000, seed=[0-9]+ \\(drawn\\)"));
}

TEST(Shuffle, TellsTheGraphWhetherItIsSeeded) {
  const auto is_seeded = [](const OpRef& op) { return dynamic_cast<const graph::ShufflesOrder&>(*op).is_seeded(); };
  EXPECT_TRUE(is_seeded(shuffle(5, 0)));
  EXPECT_FALSE(is_seeded(ops::shuffle(5, {})));
}

// ------------------------------------------------------------------------------------------------
// distribution

// Probability of each order of n elements through a window of k, from the definition of tf.data's
// shuffle: fill the window, draw one of those inside with equal probability, refill.
void add_orders(Positions held, std::int64_t next, std::int64_t n, std::int64_t k, Positions& given, double probability,
                std::map<Positions, double>& orders) {
  while (next < n && static_cast<std::int64_t>(held.size()) < k) held.push_back(next++);
  if (held.empty()) {
    orders[given] += probability;
    return;
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    Positions rest = held;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    given.push_back(held[i]);
    add_orders(rest, next, n, k, given, probability / static_cast<double>(held.size()), orders);
    given.pop_back();
  }
}

std::map<Positions, double> exact_orders(std::int64_t n, std::int64_t k) {
  std::map<Positions, double> orders;
  Positions given;
  add_orders({}, 0, n, k, given, 1.0, orders);
  return orders;
}

// Pearson's statistic of `draws` orders, in standard deviations above its mean (chi-squared with d
// degrees of freedom has mean d and variance 2 d).
double excess(const std::map<Positions, double>& expected, const std::map<Positions, int>& counts, int draws) {
  double statistic = 0;
  for (const auto& [order, probability] : expected) {
    const auto found = counts.find(order);
    const double count = found == counts.end() ? 0 : found->second;
    const double mean = probability * draws;
    statistic += (count - mean) * (count - mean) / mean;
  }
  const double degrees = static_cast<double>(expected.size()) - 1;
  return (statistic - degrees) / std::sqrt(2 * degrees);
}

void expect_distribution(std::int64_t n, std::int64_t buffer, Order order_by) {
  constexpr int draws = 30'000;
  const auto expected = exact_orders(n, buffer);
  std::map<Positions, int> counts;
  const OpRef op = shuffle(buffer, 2026);
  for (int i = 0; i < draws; ++i) ++counts[order_by(op, n, static_cast<std::uint32_t>(i), 0)];
  for (const auto& [order, count] : counts) EXPECT_TRUE(expected.contains(order)) << count << " impossible orders";
  EXPECT_LT(excess(expected, counts, draws), 5.0) << n << " elements, buffer " << buffer;
}

TEST(ShuffleDistribution, OfAPermutationIsUniform) {
  for (std::int64_t n : {2, 3, 4, 5}) expect_distribution(n, n, order_of);
}

TEST(ShuffleDistribution, OfAWindowIsThatOfTensorFlow) {
  for (std::int64_t buffer : {2, 3, 4}) expect_distribution(5, buffer, order_of);
}

TEST(ShuffleDistribution, OfAStreamIsThatOfTensorFlow) {
  for (std::int64_t buffer : {2, 3, 5, 8}) expect_distribution(5, buffer, stream_order);
}

TEST(ShuffleDistribution, WouldShowABias) {
  auto expected = exact_orders(4, 4);
  std::map<Positions, int> counts;
  for (int i = 0; i < 30'000; ++i) ++counts[order_of(shuffle(3, 1), 4, static_cast<std::uint32_t>(i), 0)];
  EXPECT_GT(excess(expected, counts, 30'000), 5.0);
}

// ------------------------------------------------------------------------------------------------
// as a stream op

TEST(Shuffle, ForwardsErrorsAtOnce) {
  StreamRun run(shuffle(3, 7));
  EXPECT_EQ(run.pass("0 x x").text(testing::print_integer), "x1 x2 0");
}

TEST(Shuffle, KeepsTheStampOfEachElement) {
  const auto out = StreamRun(shuffle(4, 7)).pass(counting(30));
  for (const Slot& slot : out.slots) EXPECT_EQ(slot.value.get<std::int64_t>(), slot.stamp.ordinal);
  EXPECT_EQ(out.slots.size(), 30u);
}

TEST(Shuffle, StartsEachPassWithAnEmptyWindow) {
  StreamRun run(shuffle(4, 7));
  EXPECT_EQ(sorted(integers(run.pass("0 1 2"))), (Positions{0, 1, 2}));
  EXPECT_EQ(sorted(integers(run.pass(""))), Positions{});
  EXPECT_EQ(sorted(integers(run.pass("3 4 5 6 7"))), (Positions{3, 4, 5, 6, 7}));
}

TEST(Shuffle, ForgetsAPassThatWasBrokenOff) {
  StreamRun run(shuffle(4, 7));
  testing::RecordingEmitter out;
  run.state().begin_pass(out);
  run.state().element(testing::element_slot(Element(std::int64_t{0}), {}), out);
  EXPECT_EQ(run.pass("1").text(testing::print_integer), "1");
}

TEST(Shuffle, OverPositionsForgetsAPassThatWasBrokenOff) {
  const auto sequence = testing::over_positions({shuffle(4, 7)}, 10);
  sequence->begin_pass(0, 0);
  for (int i = 0; i < 3; ++i) sequence->next();
  sequence->begin_pass(0, 1);
  EXPECT_EQ(sorted(testing::drain(*sequence)), testing::first_positions(10));
}

// Of a window there is no i-th position: its order is listed, once for each pass.
TEST(Shuffle, BehindAWindowOverPositionsDependsOnNoEarlierPass) {
  const std::vector<OpRef> ops{shuffle(4, 7), shuffle(10, 3)};
  const auto fresh = testing::over_positions(ops, 10), used = testing::over_positions(ops, 10);
  used->begin_pass(0, 0);
  for (auto* sequence : {fresh.get(), used.get()}) sequence->begin_pass(1, 0);
  EXPECT_EQ(testing::drain(*used), testing::drain(*fresh));
}

TEST(Shuffle, CountsTheBytesItHolds) {
  StreamRun run(shuffle(3, 7));
  testing::RecordingEmitter out;
  StreamState& state = run.state();
  state.begin_pass(out);
  const std::int64_t value = 100, place = 64;
  const std::int64_t bytes = value + static_cast<std::int64_t>(sizeof(Slot));
  state.element(testing::element_slot(Element(std::int64_t{0}), {}, bytes), out);
  state.element(testing::element_slot(Element(std::int64_t{1}), {}, bytes), out);
  EXPECT_EQ(state.held_bytes(), 2 * (value + place));
  state.element(testing::element_slot(Element(std::int64_t{2}), {}, bytes), out);
  EXPECT_EQ(out.slots.size(), 1u);
  EXPECT_EQ(state.held_bytes(), 2 * (value + place));
  run.end_pass(out);
  EXPECT_EQ(state.held_bytes(), 0);
}

TEST(Shuffle, TellsHowManyElementsItHolds) {
  EXPECT_EQ(testing::as_stream(shuffle(30, 7)).elements_held(), 30);
  EXPECT_EQ(testing::as_stream(shuffle(UNK, 7)).elements_held(), std::numeric_limits<std::int64_t>::max());
}

TEST(Shuffle, ChangesNeitherCardinalityNorRows) {
  testing::expect_cardinalities(shuffle(2, 7), {{10, 10}, {0, 0}, {INF, INF}, {UNK, UNK}});
  testing::expect_cardinalities(shuffle(UNK, 7), {{10, 10}, {UNK, UNK}});
  testing::expect_keeps_leading_dimension(shuffle(2, 7));
}

TEST(Shuffle, RefusesSizesThatCannotBe) {
  const std::string text = "buffer_size must be at least 1, or UNKNOWN_CARDINALITY for all elements, but is ";
  EXPECT_ERROR(ops::shuffle(0, {}), ErrorCode::invalid_argument, text + "0");
  EXPECT_ERROR(ops::shuffle(-1, {}), ErrorCode::invalid_argument, text + "-1");
  EXPECT_ERROR(ops::shuffle(-3, {}), ErrorCode::invalid_argument, text + "-3");
}

TEST(Shuffle, OfAllElementsRefusesAnEndlessInput) {
  EXPECT_ERROR(shuffle(UNK, 7)->flow({.cardinality = INF}), ErrorCode::invalid_argument, "the input never ends");
}

TEST(Shuffle, OfMorePositionsThanCanBePermutedIsRefused) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  for (const std::int64_t buffer : {UNK, most + 1, INT64_MAX}) {
    EXPECT_ERROR(shuffle(buffer, 7)->flow({.cardinality = most + 1}), ErrorCode::invalid_argument,
                 "at most 2^62 = 4611686018427387904");
    EXPECT_EQ(shuffle(buffer, 7)->flow({.cardinality = most}).cardinality, most);
  }
  EXPECT_EQ(shuffle(1000, 7)->flow({.cardinality = INT64_MAX}).cardinality, INT64_MAX) << "a window is no permutation";
}

TEST(Shuffle, PrintsWhatDecidesItsOrder) {
  EXPECT_EQ(shuffle(10, 7)->parameters(), "buffer_size=10, seed=7");
  EXPECT_EQ(shuffle(UNK, 7, false)->parameters(), "buffer_size=all, seed=7, reshuffle_each_epoch=false");
}

}  // namespace
}  // namespace penstock
