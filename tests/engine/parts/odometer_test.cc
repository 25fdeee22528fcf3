// In which pass a merge is, and in which its inputs are.
#include "lib/exec/odometer.h"

#include <gtest/gtest.h>

namespace penstock::exec {
namespace {

TEST(Odometer, TurnsTheDigitAboveThoseThatEnded) {
  Odometer a(2), b(2);
  a.turn(0, 0);
  EXPECT_GT(a, b);
  EXPECT_EQ(a.highest_difference(b), 0u);
  b.turn(1, 0);
  EXPECT_GT(b, a) << "the outer digit counts more";
  EXPECT_EQ(b.highest_difference(a), 1u);
  a.turn(1, 0);
  EXPECT_EQ(a, b) << "the digit below begins again";
}

TEST(Odometer, OfALaterRoundIsLaterWhateverItsDigits) {
  Odometer a(2), b(2);
  a.turn(1, 0);
  b.turn(2, 1);
  EXPECT_GT(b, a);
  EXPECT_EQ(b.highest_difference(a), 2u);
  a.turn(2, 1);
  EXPECT_EQ(a, b);
}

TEST(Odometer, WithoutDigitsCountsRounds) {
  Odometer a(0), b(0);
  EXPECT_EQ(a, b);
  a.turn(0, 1);
  EXPECT_GT(a, b);
  EXPECT_EQ(a.highest_difference(b), 0u);
}

}  // namespace
}  // namespace penstock::exec
