// How much wider a window becomes where slow calls hold up the others.
#include "autotune/window_stretch.h"

#include <gtest/gtest.h>

namespace penstock::autotune {
namespace {

// A stage of eight calls with a window of sixteen, in ticks of 10 ms.
class Stage {
 public:
  Stage() {
    now_.parallelism = 8;
    now_.window = 16;
    now_.credits = 4;
  }
  // So many ticks in which one slow call keeps all others from being started; then one in which they all run.
  void stall(int ticks, bool all_wait = true, bool at_once = false) {
    for (int i = 0; i <= ticks; ++i) {
      now_.running = i < ticks ? 1 : 8;
      now_.in_window = i < ticks ? now_.window : 8;
      time_ns_ += 10'000'000;
      stretch_.look(now_, all_wait, at_once, 1, time_ns_);
      if (i == ticks - 1) in_stall_ = stretch();
    }
  }
  void block() { now_.credits = 0; }
  void queue() { now_.ready = 4; }
  void widen() { now_.window = now_.in_window = 32; }
  double stretch() const { return stretch_.at_least(1); }
  double patience(double seen) const { return stretch_.at_least(seen); }
  double at_end_of_stall() const { return in_stall_; }

 private:
  StageSnapshot now_;
  WindowStretch stretch_;
  std::int64_t time_ns_ = 0;
  double in_stall_ = 1;
};

TEST(WindowStretch, GrowsWhereCallsStandIdleBehindASlowOne) {
  Stage stage;
  EXPECT_EQ(stage.stretch(), 1);
  stage.stall(50);
  EXPECT_GT(stage.stretch(), 1);
  const double once = stage.stretch();
  stage.stall(50);
  EXPECT_GT(stage.stretch(), once);
}

TEST(WindowStretch, WaitsForTheEndOfAStallWhereThereIsNoHurry) {
  Stage calm, hurried;
  calm.stall(50);
  EXPECT_EQ(calm.at_end_of_stall(), 1);
  hurried.stall(50, true, true);
  EXPECT_GT(hurried.at_end_of_stall(), 1);
}

TEST(WindowStretch, AllowsForAFewStalls) {
  Stage stage;
  for (int i = 0; i < 100; ++i) {
    stage.stall(2);
    stage.stall(100, false);  // a second
  }
  EXPECT_EQ(stage.stretch(), 1);
}

TEST(WindowStretch, DoesNotGrowWhereOthersHaveEnoughToDo) {
  Stage stage;
  stage.stall(1000, false);
  EXPECT_EQ(stage.stretch(), 1);
}

TEST(WindowStretch, DoesNotGrowWhereResultsHaveNoRoomBehindTheStage) {
  Stage stage;
  stage.block();
  stage.stall(1000);
  EXPECT_EQ(stage.stretch(), 1);
}

// They wait for a core, or for memory: a wider window would only let more of them wait.
TEST(WindowStretch, DoesNotGrowWhereElementsInTheWindowWaitToStart) {
  Stage stage;
  stage.queue();
  stage.stall(1000);
  EXPECT_EQ(stage.stretch(), 1);
}

TEST(WindowStretch, AddsNothingToWhatCallsHaveToldSince) {
  Stage stage;
  stage.stall(50);
  EXPECT_EQ(stage.patience(50), 50) << "was 75: what had not been seen, and now had, was counted twice";
}

// One call in a thousand may take eight times as long as usual: that is no reason to widen the window three times.
TEST(WindowStretch, GrowsOnceInAStallThatANewWidthDoesNotEnd) {
  Stage once, twice;
  once.stall(100, true, true);
  for (int i = 0; i < 2; ++i) {
    twice.stall(50, true, true);
    twice.widen();
  }
  EXPECT_NEAR(once.stretch(), 1.5, 0.05);
  EXPECT_GT(twice.stretch(), 2);
}

TEST(WindowStretch, IsForgottenInMinutes) {
  Stage stage;
  stage.stall(50);
  for (int i = 0; i < 100; ++i) stage.stall(100, false);
  EXPECT_EQ(stage.stretch(), 1);
}

TEST(WindowStretch, EndsSomewhere) {
  Stage stage;
  for (int i = 0; i < 1000; ++i) stage.stall(100);
  EXPECT_LE(stage.stretch(), 16);
}

}  // namespace
}  // namespace penstock::autotune
