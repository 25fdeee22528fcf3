// Elements of several parts, as zip and enumerate give them: functions of the parts, batches of columns, structs.
#include <gmock/gmock.h>
#include <penstock/penstock.h>

#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using ::testing::ElementsAre;
using Pair = std::tuple<std::int64_t, std::string>;

std::string letters(std::int64_t count) { return std::string(static_cast<std::size_t>(count), 'a'); }

const Dataset<Pair> kPairs = zip(range(4), range(4).map(letters));

template <class T> std::vector<T> all_of(const Dataset<T>& dataset) {
  std::vector<T> all;
  for (auto&& value : dataset) all.push_back(std::move(value));
  return all;
}

TEST(Parts, AreGivenToAFunctionThatTakesNoTuple) {
  const auto size = [](std::int64_t number, const std::string& text) {
    return 10 * number + static_cast<std::int64_t>(text.size());
  };
  EXPECT_THAT(all_of(kPairs.map(size)), ElementsAre(0, 11, 22, 33));
  const auto has_even_number = [](std::int64_t number, const std::string&) { return number % 2 == 0; };
  EXPECT_THAT(all_of(kPairs.filter(has_even_number)), ElementsAre(Pair(0, ""), Pair(2, "aa")));
  const auto repeated = [](std::int64_t number, std::string&& text) {
    return std::vector<std::string>(static_cast<std::size_t>(number), std::move(text));
  };
  EXPECT_THAT(all_of(kPairs.take(3).flat_map(repeated)), ElementsAre("a", "aa", "aa"));
}

TEST(Parts, ComeWithTheContextWhereTheFunctionTakesIt) {
  const auto ordinal = [](std::int64_t number, const std::string&, Context& context) {
    return number + 100 * context.stamp().ordinal;
  };
  EXPECT_THAT(all_of(kPairs.map(ordinal)), ElementsAre(0, 101, 202, 303));
}

TEST(Parts, AreNotTakenApartForAFunctionOfTheTuple) {
  const auto first = [](const Pair& pair) { return std::get<0>(pair); };
  EXPECT_THAT(all_of(kPairs.map(first)), ElementsAre(0, 1, 2, 3));
  const auto any = [](const auto& pair) { return std::get<0>(pair); };
  EXPECT_THAT(all_of(kPairs.map(any)), ElementsAre(0, 1, 2, 3));
}

TEST(Parts, AreMovedIntoTheFunction) {
  const auto data = range(3).map([](std::int64_t x) { return std::make_unique<std::int64_t>(x); }).enumerate();
  const auto taken = [](std::int64_t number, std::unique_ptr<std::int64_t> value) { return number + *value; };
  EXPECT_THAT(all_of(data.map(taken)), ElementsAre(0, 2, 4));
}

TEST(Parts, GoToACopyOfAFunctionWithAState) {
  const auto counting = [count = 0](std::int64_t number, const std::string&) mutable { return number + count++; };
  EXPECT_THAT(all_of(kPairs.map(counting, 1)), ElementsAre(0, 2, 4, 6));
}

TEST(TupleBatch, IsATupleOfColumns) {
  static_assert(std::is_same_v<Batch<Pair>, std::tuple<std::vector<std::int64_t>, std::vector<std::string>>>);
  std::vector<std::size_t> sizes;
  for (auto&& [numbers, texts] : kPairs.batch(3)) {
    EXPECT_EQ(texts.back(), letters(numbers.back()));
    sizes.push_back(numbers.size());
  }
  EXPECT_THAT(sizes, ElementsAre(3, 1));
}

TEST(TupleBatch, ComesApartAgain) {
  static_assert(std::is_same_v<decltype(kPairs.batch(3).unbatch()), Dataset<Pair>>);
  EXPECT_EQ(all_of(kPairs.batch(3).unbatch()), all_of(kPairs));
  const auto nested = zip(kPairs, range(4)).enumerate();
  EXPECT_EQ(all_of(nested.batch(3).unbatch()), all_of(nested));
}

TEST(TupleBatch, FailsToComeApartWhereItsPartsDifferInLength) {
  using Columns = std::tuple<std::vector<int>, std::vector<int>, std::vector<int>>;
  const auto data = from_vector(std::vector<Columns>{{{1, 2}, {3, 4}, {5}}});
  EXPECT_ERROR(all_of(data.unbatch()), ErrorCode::invalid_argument, "component 2 had size, 1");
}

TEST(TupleBatch, OfATensorThatDoesNotFitGivesAnErrorInItsPlace) {
  const auto tensor = [](std::int64_t x) { return Tensor(DType::u8, {x == 1 ? 3 : 2}); };
  auto run = zip(range(3), range(3).map(tensor)).batch(2).start();
  EXPECT_THROW(run.next(), ElementError);
  const auto batch = run.next();
  ASSERT_TRUE(batch);
  EXPECT_THAT(std::get<0>(*batch), ElementsAre(0, 2));
}

TEST(TupleBatch, PadsItsPartsToTheLongest) {
  const auto tokens = [](std::int64_t x) { return std::vector<std::int32_t>(static_cast<std::size_t>(x), 7); };
  const auto data = range(3).map(tokens).enumerate();
  for (auto&& [numbers, rows] : data.padded_batch(3)) {
    EXPECT_THAT(numbers, ElementsAre(0, 1, 2));
    EXPECT_THAT(rows.shape(), ElementsAre(3, 2));
  }
  for (auto&& [numbers, rows] : data.ragged_batch(3)) EXPECT_THAT(rows.row_splits, ElementsAre(0, 0, 1, 3));
}

struct Session {
  std::int64_t id = 0;
};

}  // namespace

template <> struct Collate<Session> {};

namespace {

TEST(TupleBatch, IsNoneWhereAPartCannotBePutTogether) {
  static_assert(!Batchable<std::tuple<std::int64_t, Session>>);
  static_assert(Batchable<std::tuple<std::int64_t>>);
}

struct Captioned {
  std::int64_t number;
  std::string caption;
  bool operator==(const Captioned&) const = default;
};

struct Sum {
  explicit Sum(std::int64_t one) : value(one) {}
  Sum(const Sum& a, const Sum& b) : value(a.value + b.value) {}
  std::int64_t value;
};

TEST(Zip, MakesAStructOfTwoOfItsOwnKind) {
  const auto sums = range(3).map([](std::int64_t x) { return Sum(x); });
  std::vector<std::int64_t> values;
  for (const Sum& sum : zip<Sum>(sums, sums)) values.push_back(sum.value);
  EXPECT_EQ(values, (std::vector<std::int64_t>{0, 2, 4}));
}

TEST(Zip, MakesStructs) {
  const Dataset<Captioned> data = zip<Captioned>(range(2), range(2).map(letters));
  EXPECT_THAT(all_of(data), ElementsAre(Captioned{0, ""}, Captioned{1, "a"}));
}

}  // namespace
}  // namespace penstock
