#include "lib/core/left_out.h"

#include <gtest/gtest.h>

#include "tests/support/recording_emitter.h"

namespace penstock {
namespace {

Slot element() { return testing::element_slot(Element(std::int64_t{1}), {}); }
Slot error() { return testing::error_slot({}); }

TEST(LeftOut, IsOverBehindAsManySlots) {
  LeftOut again({.slots = 2, .errors = 1}, false);
  EXPECT_TRUE(again.take(error()));
  EXPECT_TRUE(again.goes_on());
  EXPECT_TRUE(again.take(element()));
  EXPECT_FALSE(again.goes_on());
}

TEST(LeftOut, TellsAnErrorMoreThanThereWere) {
  LeftOut again({.slots = 3, .errors = 1}, false);
  EXPECT_TRUE(again.take(error()));
  EXPECT_FALSE(again.take(error()));
  LeftOut of_positions({.slots = 3, .errors = 0}, true);
  EXPECT_TRUE(of_positions.take(error())) << "whatever fails, its number is the same";
}

// Else they would be counted to what a later save point leaves out.
TEST(LeftOut, ForgetsErrorsThatHaveNotCome) {
  for (const bool keeps_numbers : {false, true}) {
    LeftOut again({.slots = 2, .errors = 1}, keeps_numbers);
    EXPECT_TRUE(again.take(element()));
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(again.take(element()));
    const std::string told = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(told.empty(), keeps_numbers) << told;
    EXPECT_EQ(again.count().errors, 0);
  }
}

}  // namespace
}  // namespace penstock
