// rejection_resample(): other shares of classes.
#include <penstock/penstock.h>

#include <array>
#include <limits>
#include <numeric>

#include "tests/engine/support.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using testing::read;

constexpr ErrorCode invalid_shares = ErrorCode::invalid_argument;

// Of 100 numbers 70 are of class 0, 20 of class 1, 10 of class 2.
std::int64_t class_of_number(std::int64_t number) { return number % 10 < 7 ? 0 : number % 10 < 9 ? 1 : 2; }
const std::vector<double> kInitial{70, 20, 10};

std::array<double, 3> counts(const Dataset<std::int64_t>& data) {
  std::array<double, 3> all{};
  for (const std::int64_t number : data) ++all[static_cast<std::size_t>(class_of_number(number))];
  return all;
}

TEST(RejectionResample, GivesTheSharesThatAreWanted) {
  const auto even = rejection_resample(range(100'000), class_of_number, {1, 1, 1}, {.initial = kInitial, .seed = 1});
  const auto count = counts(even);
  EXPECT_EQ(count[2], 10'000) << "all of the scarcest stay";
  EXPECT_NEAR(count[1], 10'000, 400);
  EXPECT_NEAR(count[0], 10'000, 400);
}

TEST(RejectionResample, LeavesOutNothingOfWhatComesAsItIsWanted) {
  const auto same = rejection_resample(range(1'000), class_of_number, {0.7, 0.2, 0.1}, {.initial = {0.7, 0.2, 0.1}});
  EXPECT_EQ(read(same), read(range(1'000)));
}

TEST(RejectionResample, LeavesOutAClassThatIsNotWanted) {
  const auto count = counts(rejection_resample(range(10'000), class_of_number, {1, 0, 1}, {.initial = {70, 20, 10}}));
  EXPECT_EQ(count[1], 0);
  EXPECT_EQ(count[2], 1'000);
  const auto counted = counts(rejection_resample(range(10'000), class_of_number, {0, 0, 5}));
  EXPECT_EQ(counted, (std::array<double, 3>{0, 0, 1'000}));
}

TEST(RejectionResample, CountsClassesWhereNobodyTellsTheirShares) {
  const auto count = counts(rejection_resample(range(100'000), class_of_number, {3, 1, 1}, {.seed = 5}));
  const double all = std::accumulate(count.begin(), count.end(), 0.0);
  EXPECT_NEAR(count[0] / all, 0.6, 0.02);
  EXPECT_NEAR(count[1] / all, 0.2, 0.02);
  EXPECT_NEAR(count[2] / all, 0.2, 0.02);
}

// The first of a class that is twice as common as it should be, by the ten of each that are counted before.
TEST(RejectionResample, BeginsToCountWithTenOfEach) {
  int stay = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    const auto first = [](std::int64_t) { return 0; };
    stay +=
        static_cast<int>(read(rejection_resample(range(1), first, {1, 2}, {.seed = seed}), {.serial = true}).size());
  }
  EXPECT_NEAR(stay / 2'000.0, 0.5 * 10 / 11, 0.05);
}

TEST(RejectionResample, DrawsAnewInEachEpochAndPassAndForEachSeed) {
  for (const std::vector<double>& initial : {kInitial, {}}) {
    const auto resampled = [&](std::uint64_t seed) {
      return rejection_resample(range(1'000), class_of_number, {1, 1, 1}, {.initial = initial, .seed = seed});
    };
    EXPECT_EQ(read(resampled(1)), read(resampled(1)));
    EXPECT_NE(read(resampled(1)), read(resampled(2)));
    EXPECT_NE(read(resampled(1)), read(resampled(1), {.first_epoch = 1}));
    const auto twice = read(resampled(1).repeat(2));
    const auto once = read(resampled(1));
    EXPECT_EQ((testing::Texts{twice.begin(), twice.begin() + std::ssize(once)}), once);
    EXPECT_NE((testing::Texts{twice.begin() + std::ssize(once), twice.end()}), once);
  }
}

TEST(RejectionResample, WithoutASeedDependsOnThatOfTheRun) {
  const auto even = rejection_resample(range(1'000), class_of_number, {1, 1, 1}, {.initial = kInitial});
  EXPECT_EQ(read(even, {.seed = 3}), read(even, {.seed = 3}));
  EXPECT_NE(read(even, {.seed = 3}), read(even, {.seed = 4}));
}

TEST(RejectionResample, KeepsTheSameElementsForAnyNumberOfThreads) {
  for (const std::vector<double>& initial : {kInitial, {}}) {
    const auto even = rejection_resample(range(5'000), class_of_number, {1, 1, 1}, {.initial = initial, .seed = 9});
    EXPECT_EQ(read(even, {.threads = 4}), read(even, {.serial = true}));
  }
}

TEST(RejectionResample, GoesOnFromACheckpoint) {
  for (const std::vector<double>& initial : {kInitial, {}}) {
    const auto even = rejection_resample(range(300), class_of_number, {1, 1, 1}, {.initial = initial, .seed = 9});
    const auto whole = read(even);
    auto run = even.start();
    for (int i = 0; i < 20; ++i) run.next();
    const auto saved = std::make_shared<Checkpoint>(run.checkpoint());
    EXPECT_EQ(read(even, {.resume_from = saved}), (testing::Texts{whole.begin() + 20, whole.end()}));
    EXPECT_EQ(saved->kind, initial.empty() ? Checkpoint::Kind::replay : Checkpoint::Kind::position);
  }
}

TEST(RejectionResample, TellsOfAClassThatHasNoShareInItsPlace) {
  for (const std::vector<double>& initial : {std::vector<double>{1, 1, 1}, {}}) {
    const auto class_of = [](std::int64_t number) { return number == 1 ? 3 : number == 2 ? -1 : 0; };
    auto run = rejection_resample(range(4), class_of, {1, 0, 0}, {.initial = initial}).start();
    EXPECT_EQ(run.next(), 0);
    EXPECT_ERROR(run.next(), invalid_shares, "the class is 3, but there are shares for 3 classes, 0 to 2");
    EXPECT_ERROR(run.next(), invalid_shares, "the class is -1");
    EXPECT_EQ(run.next(), 3);
    EXPECT_EQ(run.next(), std::nullopt);
  }
}

TEST(RejectionResample, RefusesSharesThatAreNone) {
  const auto resample = [](std::vector<double> target, std::vector<double> initial) {
    return rejection_resample(range(9), class_of_number, std::move(target), {.initial = std::move(initial)});
  };
  EXPECT_ERROR(resample({}, {}), invalid_shares, "target must have a share above 0 for at least one class");
  EXPECT_ERROR(resample({0, 0}, {}), invalid_shares, "target must have a share above 0");
  EXPECT_ERROR(resample({1, -1}, {}), invalid_shares,
               "the shares of target must be finite and at least 0, but one is -1");
  EXPECT_ERROR(resample({1, std::numeric_limits<double>::infinity()}, {}), invalid_shares, "but one is inf");
  EXPECT_ERROR(resample({1, 1}, {1}), invalid_shares, "a share for each class, but there are 1 and 2");
  EXPECT_ERROR(resample({1, 1}, {0, 0}), invalid_shares, "initial must have a share above 0");
  EXPECT_ERROR(resample({1, 1}, {1, 0}), invalid_shares, "class 1 is wanted, but never comes");
}

TEST(RejectionResample, TakesSharesOfAnySize) {
  for (const double unit : {1e308, 1e-300, 5e-324}) {
    const auto stay = [&](std::vector<double> target, std::vector<double> initial) {
      return read(rejection_resample(range(1'000), class_of_number, std::move(target),
                                     {.initial = std::move(initial), .seed = 2}));
    };
    EXPECT_EQ(stay({unit, unit, unit}, kInitial), stay({1, 1, 1}, kInitial)) << unit;
    EXPECT_EQ(stay({1, 1, 1}, {unit, unit, unit}).size(), 1'000u) << unit;
  }
  const auto rare = rejection_resample(range(10), class_of_number, {1, 1, 1}, {.initial = {1, 1, 5e-324}});
  EXPECT_EQ(read(rare), (testing::Texts{"9"})) << "what hardly ever comes stays";
}

TEST(RejectionResample, TakesClassesOfAnyWholeNumberAndFunctionsThatOnlyMove) {
  const auto by_flag = [](std::int64_t number) { return number % 2 == 1; };
  EXPECT_EQ(read(rejection_resample(range(4), by_flag, {0, 1})), (testing::Texts{"1", "3"}));
  auto owned = std::make_unique<std::uint8_t>(std::uint8_t{1});
  auto one = [owned = std::move(owned)](std::int64_t) { return *owned; };
  EXPECT_EQ(read(rejection_resample(range(2), std::move(one), {0, 1})), (testing::Texts{"0", "1"}));
}

}  // namespace
}  // namespace penstock
