// What zip, concatenate, sample_from and choose_from mean. Over positions: positions_test.cc.
#include "tests/engine/support.h"
#include "tests/support/expect_error.h"

#include <cmath>
#include <limits>

namespace penstock {
namespace {

using namespace testing;
using Pair = std::tuple<std::int64_t, std::int64_t>;

std::string pair_text(const Pair& pair) {
  return std::to_string(std::get<0>(pair)) + "," + std::to_string(std::get<1>(pair));
}

constexpr ErrorCode invalid = ErrorCode::invalid_argument;

// ------------------------------------------------------------------------------------------------ zip

TEST(Zip, PairsElementsUntilTheShortestEnds) {
  EXPECT_EQ(read(zip(branch(3), branch(10, 20)).map(pair_text)), (Texts{"0,10", "1,11", "2,12"}));
  EXPECT_EQ(read(zip(branch(9), branch(0)).map(pair_text)), Texts{});
}

TEST(Zip, TakesUpToFour) {
  const auto four = zip(branch(2), from_vector(std::vector<std::string>{"a", "b"}), branch(5, 9), branch(7, 9));
  const auto text = [](const std::tuple<std::int64_t, std::string, std::int64_t, std::int64_t>& all) {
    const auto& [a, b, c, d] = all;
    return std::to_string(a) + b + std::to_string(c) + std::to_string(d);
  };
  EXPECT_EQ(read(four.map(text)), (Texts{"0a57", "1b68"}));
}

TEST(Zip, MakesOneErrorOfAPosition) {
  const auto left = branch(5).map(failing_at(1)).map(failing_at(3)), right = branch(5).map(failing_at(3));
  EXPECT_EQ(read(zip(left, right).map(pair_text)), (Texts{"0,0", "x1", "2,2", "x3", "4,4"}));
}

TEST(Zip, CarriesWhatCannotBeCopied) {
  const auto boxes = [] { return branch(3).map([](std::int64_t x) { return std::make_unique<std::int64_t>(x); }); };
  auto run = zip(boxes(), boxes()).start();
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto pair = run.next();
    ASSERT_TRUE(pair);
    EXPECT_EQ(*std::get<0>(*pair) + *std::get<1>(*pair), 2 * i);
  }
}

TEST(Zip, KnowsItsCardinality) {
  EXPECT_EQ(zip(branch(3), branch(7)).cardinality(), 3);
  EXPECT_EQ(zip(branch(3), branch(7).repeat()).cardinality(), 3);
  EXPECT_EQ(zip(branch(3).repeat(), branch(7).repeat()).cardinality(), INFINITE_CARDINALITY);
  EXPECT_EQ(zip(branch(3), branch(7).filter([](std::int64_t) { return true; })).cardinality(), UNKNOWN_CARDINALITY);
}

// ------------------------------------------------------------------------------------------------ concatenate

TEST(Concatenate, GivesOneAfterTheOther) {
  EXPECT_EQ(read(branch(2).concatenate(branch(5, 7)).concatenate(branch(9, 10))), (Texts{"0", "1", "5", "6", "9"}));
  EXPECT_EQ(read(concatenate(std::vector{branch(0), branch(2), branch(0), branch(3, 4)})), (Texts{"0", "1", "3"}));
}

TEST(Concatenate, KnowsItsCardinality) {
  EXPECT_EQ(branch(3).concatenate(branch(4)).cardinality(), 7);
  EXPECT_EQ(branch(3).filter([](std::int64_t) { return true; }).concatenate(branch(4).repeat()).cardinality(),
            INFINITE_CARDINALITY);
  EXPECT_EQ(branch(3).concatenate(branch(4).filter([](std::int64_t) { return true; })).cardinality(),
            UNKNOWN_CARDINALITY);
}

TEST(Concatenate, OfMoreThanCanBeCountedDoesNotKnow) {
  const auto most = branch(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(most.concatenate(branch(1)).cardinality(), UNKNOWN_CARDINALITY);
}

TEST(Concatenate, NeedsADataset) {
  EXPECT_ERROR(concatenate(std::vector<Dataset<std::int64_t>>{}), invalid, "the list of datasets is empty");
}

TEST(Concatenate, KnowsTheRowsOfBatchesThatAreAlike) {
  const auto batches = branch(8).batch(4, {.drop_remainder = true});
  EXPECT_EQ(batches.concatenate(batches).unbatch().cardinality(), 16);
}

// ------------------------------------------------------------------------------------------------ sample_from

Dataset<std::int64_t> sampled(std::vector<double> weights, std::int64_t each, SampleOptions options = {}) {
  std::vector<Dataset<std::int64_t>> inputs;
  for (std::size_t i = 0; i < weights.size(); ++i)
    inputs.push_back(branch(each).map([i](std::int64_t) { return static_cast<std::int64_t>(i); }));
  options.weights = std::move(weights);
  if (!options.seed) options.seed = 5;
  return sample_from(inputs, options);
}

// Within five standard deviations of a binomial distribution: by chance one test in a million would fail, and the seed
// is fixed.
TEST(SampleFrom, DrawsByWeight) {
  constexpr std::int64_t kDraws = 10'000;
  std::vector<std::int64_t> counts(3, 0);
  for (const std::int64_t input : sampled({2.0, 5.0, 3.0}, kDraws).take(kDraws))
    ++counts[static_cast<std::size_t>(input)];
  const std::vector<double> shares{0.2, 0.5, 0.3};
  for (std::size_t i = 0; i < 3; ++i) {
    const double expected = kDraws * shares[i], deviation = std::sqrt(expected * (1 - shares[i]));
    EXPECT_NEAR(static_cast<double>(counts[i]), expected, 5 * deviation) << i;
  }
}

// So many that they are searched, not counted.
TEST(SampleFrom, DrawsByWeightFromManyInputs) {
  constexpr std::int64_t kInputs = 50, kDraws = 20'000;
  std::vector<double> weights(kInputs, 1);
  weights[7] = 0;
  weights[49] = 0;
  weights[20] = 53;  // of 100
  std::vector<std::int64_t> counts(kInputs, 0);
  for (const std::int64_t input : sampled(weights, kDraws).take(kDraws)) ++counts[static_cast<std::size_t>(input)];
  EXPECT_EQ(counts[7], 0);
  EXPECT_EQ(counts[49], 0);
  EXPECT_NEAR(static_cast<double>(counts[20]), 0.53 * kDraws, 5 * std::sqrt(0.25 * kDraws));
  for (const std::size_t input : {0u, 6u, 8u, 48u})
    EXPECT_NEAR(static_cast<double>(counts[input]), 0.01 * kDraws, 5 * std::sqrt(0.01 * kDraws)) << input;
}

TEST(SampleFrom, GivesAllOfEachInOrderAndNothingOfWeightZero) {
  const auto mixed =
      sample_from(std::vector{branch(5), branch(10, 13), branch(20, 22)}, {.weights = {1, 0, 1}, .seed = 1});
  std::vector<std::int64_t> first, third;
  for (const std::int64_t value : mixed) (value < 10 ? first : third).push_back(value);
  EXPECT_EQ(first, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(third, (std::vector<std::int64_t>{20, 21}));
}

TEST(SampleFrom, DrawsAlikeInEachPassAndEpochUnlessItIsAsked) {
  const auto mixed = [](bool anew) { return sampled({1, 1}, 40, {.rerandomize_each_epoch = anew}); };
  const Texts once = read(mixed(false));
  Texts twice = read(mixed(false).repeat(2));
  EXPECT_EQ(Texts(twice.begin() + 80, twice.end()), once);
  EXPECT_NE(read(mixed(true), {.first_epoch = 1}), read(mixed(true)));
  twice = read(mixed(true).repeat(2));
  EXPECT_NE(Texts(twice.begin() + 80, twice.end()), Texts(twice.begin(), twice.begin() + 80));
}

TEST(SampleFrom, MayStopWithTheFirstThatIsEmpty) {
  const auto mixed = sample_from(std::vector{branch(3), branch(100, 200)}, {.seed = 4, .stop_on_empty = true});
  std::int64_t small = 0, others = 0;
  for (const std::int64_t value : mixed) ++(value < 100 ? small : others);
  EXPECT_EQ(small, 3);
  EXPECT_LT(others, 100);
}

TEST(SampleFrom, RefusesWeightsThatAreNone) {
  const std::vector two{branch(1), branch(1)};
  EXPECT_ERROR(sample_from(two, {.weights = {1}}), invalid, "there are 1 weights, but 2 datasets");
  EXPECT_ERROR(sample_from(two, {.weights = {0, 0}}), invalid, "all weights are 0");
  EXPECT_ERROR(sample_from(two, {.weights = {1, -1}}), invalid, "one is -1");
  EXPECT_ERROR(sample_from(two, {.weights = {1, NAN}}), invalid, "weights must be finite");
  EXPECT_ERROR(sample_from(std::vector<Dataset<std::int64_t>>{}), invalid, "the list of datasets is empty");
}

TEST(SampleFrom, WithoutASeedIsNotSharedAmongRanks) {
  const auto mixed = sample_from(std::vector{branch(8), branch(8)});
  EXPECT_ERROR(mixed.shard(2, 0), invalid, "sample_from (op 4) has no seed");
}

// ------------------------------------------------------------------------------------------------ choose_from

Dataset<std::int64_t> chosen(std::vector<std::int64_t> choices, ChooseOptions options = {}) {
  return choose_from(std::vector{branch(3), branch(10, 12)}, from_vector(std::move(choices)), options);
}

TEST(ChooseFrom, GivesWhatTheChoiceSays) {
  EXPECT_EQ(read(chosen({1, 0, 0, 1})), (Texts{"10", "0", "1", "11"}));
  EXPECT_EQ(read(chosen({})), Texts{});
}

TEST(ChooseFrom, PassesOverWhatIsEmptyOrEnds) {
  EXPECT_EQ(read(chosen({1, 1, 1, 0, 1, 0})), (Texts{"10", "11", "0", "1"}));
  EXPECT_EQ(read(chosen({1, 1, 1, 0, 1, 0}, {.stop_on_empty = true})), (Texts{"10", "11"}));
}

TEST(ChooseFrom, OfAnEndlessChoiceEndsWhenNothingIsLeftToChoose) {
  const auto endless = branch(2).repeat();
  EXPECT_EQ(read(choose_from(std::vector{branch(3), branch(10, 12)}, endless).repeat(2)),
            (Texts{"0", "10", "1", "11", "2", "0", "10", "1", "11", "2"}));
}

TEST(ChooseFrom, FailsInItsPlaceWhereTheChoiceIsNone) {
  auto run = chosen({0, 2, -1, 1}).start();
  EXPECT_EQ(next_text(run), "0");
  EXPECT_ERROR(run.next(), invalid, "the choice is 2, but there are 2 datasets");
  EXPECT_ERROR(run.next(), invalid, "the choice is -1");
  EXPECT_EQ(next_text(run), "10");
  EXPECT_EQ(next_text(run), "end");
}

TEST(ChooseFrom, PassesErrorsOfTheChoiceOn) {
  const auto choice = from_vector(std::vector<std::int64_t>{0, 1, 0}).map(failing_at(1));
  EXPECT_EQ(read(choose_from(std::vector{branch(3), branch(10, 12)}, choice)), (Texts{"0", "x1", "1"}));
}

TEST(SampleFrom, TellsWeightsApartThatDifferInTheirLastDigit) {
  const auto mixed = [](double weight) {
    return describe(sample_from(std::vector{branch(3), branch(3)}, {.weights = {weight, 0.5}, .seed = 1}));
  };
  EXPECT_NE(mixed(0.3), mixed(std::nextafter(0.3, 1)));
  EXPECT_NE(mixed(0.3).find("weights=0.3 0.5"), std::string::npos) << mixed(0.3);
}

TEST(SampleFrom, RefusesWeightsWhoseSumIsNoNumber) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_ERROR(sample_from(std::vector{branch(3), branch(3)}, {.weights = {most, most}}), invalid, "make them smaller");
}

TEST(ChooseFrom, NeedsADataset) {
  EXPECT_ERROR(choose_from(std::vector<Dataset<std::int64_t>>{}, branch(2)), invalid, "the list of datasets is empty");
}

}  // namespace
}  // namespace penstock
