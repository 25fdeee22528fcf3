// How soon a stage gives a save point again: by what the last ones have taken.
#include <gtest/gtest.h>

#include "lib/exec/save_point.h"

namespace penstock::exec {
namespace {

constexpr SaveSpacing kUsual;

TEST(SavePace, PausesAHundredTimesAsLongAsAListTakes) {
  SavePace pace;
  EXPECT_TRUE(pace.allows(kUsual, 0));
  pace.note(1000, 1050, 10);
  EXPECT_FALSE(pace.allows(kUsual, 1050 + 4999));
  EXPECT_TRUE(pace.allows(kUsual, 1050 + 5000));
}

TEST(SavePace, GoesByTheNumberOfWhatIsHeld) {
  SavePace pace;
  pace.note(0, 50, 10);
  pace.note(10'000, 10'100, 20);
  EXPECT_FALSE(pace.allows(kUsual, 10'100 + 9999));
  EXPECT_TRUE(pace.allows(kUsual, 10'100 + 10'000));
}

TEST(SavePace, TakesOneLongListForAnInterruption) {
  SavePace pace;
  pace.note(0, 10, 1);
  pace.note(10'000, 10'000'000, 1);
  EXPECT_TRUE(pace.allows(kUsual, 10'000'000 + 2000));
}

// What an op says of itself may grow while it holds nothing.
TEST(SavePace, FollowsWhatTakesLongerAndLonger) {
  SavePace pace;
  pace.note(0, 10, 0);
  for (int i = 0; i < 20; ++i) pace.note(0, 1'000'000, 0);
  EXPECT_FALSE(pace.allows(kUsual, 1'000'000 + 99'999'999));
}

TEST(SavePace, DoesNotPauseWhereASpacingAsksForAllOfThem) {
  SavePace pace;
  pace.note(0, 1'000'000, 1);
  EXPECT_TRUE(pace.allows({.slots = 1, .shortest_ns = 0, .longest_ns = 0}, 1'000'000));
}

}  // namespace
}  // namespace penstock::exec
