#include "lib/core/pass_number.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace penstock {
namespace {

using Digits = std::vector<std::int64_t>;

TEST(PassNumber, IsTheNumberOfThePassWhereThereIsOneRepeat) { EXPECT_EQ(pass_number(Digits{7}), 7U); }

TEST(PassNumber, TellsTheDigits) {
  for (const Digits& counts :
       {Digits{3, 2}, Digits{3, 2, 4}, Digits{-1}, Digits{5, -1}, Digits{1, 1, 6}, Digits{-1, 2}, Digits{-1, 2, 9}})
    for (const Digits& digits : {Digits{0, 0, 0}, Digits{2, 1, 3}, Digits{0, 1, 0}, Digits{4, 1, 5}, Digits{0, 0, 5}}) {
      Digits there(counts.size());
      for (std::size_t i = 0; i < counts.size(); ++i)
        there[i] = counts[i] < 0 ? digits[i] : std::min(digits[i], counts[i] - 1);
      EXPECT_EQ(digits_of_pass(pass_number(there), counts), there);
    }
}

TEST(PassNumber, OfNoPassHasNoDigits) {
  EXPECT_EQ(digits_of_pass(3, Digits{3}), std::nullopt);
  EXPECT_EQ(digits_of_pass(12'345, Digits{3, 2}), std::nullopt);
  EXPECT_EQ(digits_of_pass(1, Digits{}), std::nullopt);
}

}  // namespace
}  // namespace penstock
