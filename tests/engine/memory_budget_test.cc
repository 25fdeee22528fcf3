#include "lib/exec/memory_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace penstock {
namespace {

using exec::MemoryBudget;

TEST(MemoryBudgetTest, GivesWhatThereIsRoomForAndNoByteMore) {
  MemoryBudget budget(100);
  EXPECT_TRUE(budget.reserve(60, false));
  EXPECT_FALSE(budget.reserve(41, false));
  EXPECT_EQ(budget.used(), 60) << "a refusal takes nothing";
  EXPECT_TRUE(budget.reserve(40, false));
  EXPECT_EQ(budget.used(), 100);
  EXPECT_EQ(budget.peak(), 100);
}

TEST(MemoryBudgetTest, LeavesRoomForThoseWhoGoFirst) {
  MemoryBudget budget(100);
  EXPECT_FALSE(budget.reserve(60, false, 41));
  EXPECT_FALSE(budget.has_room(60, 41));
  EXPECT_TRUE(budget.has_room(60, 40));
  EXPECT_TRUE(budget.reserve(60, false, 40));
}

TEST(MemoryBudgetTest, IsPassedByWhoeverMustGoOn) {
  MemoryBudget budget(100);
  EXPECT_TRUE(budget.reserve(250, true));
  EXPECT_EQ(budget.used(), 250);
  EXPECT_EQ(budget.overshot_bytes(), 0) << "that is no overshoot";
  EXPECT_FALSE(budget.was_overshot());
}

TEST(MemoryBudgetTest, SettlesWhatWasReservedAgainstWhatCame) {
  MemoryBudget budget(100);
  budget.charge(10);  // the input
  ASSERT_TRUE(budget.reserve(50, false));
  budget.settle(50, 10, 20);
  EXPECT_EQ(budget.used(), 20);
  EXPECT_EQ(budget.overshot_bytes(), 0);
}

TEST(MemoryBudgetTest, CountsWhatCameBeyondWhatWasReserved) {
  MemoryBudget budget(100);
  ASSERT_TRUE(budget.reserve(50, false));
  budget.settle(50, 0, 70);
  EXPECT_EQ(budget.used(), 70);
  EXPECT_EQ(budget.overshot_bytes(), 20);
  EXPECT_FALSE(budget.was_overshot()) << "the limit was not passed";
  budget.overshoot(31);
  EXPECT_EQ(budget.overshot_bytes(), 51);
  EXPECT_TRUE(budget.was_overshot());
  budget.release(101);
  EXPECT_TRUE(budget.was_overshot()) << "once is enough to be careful";
  EXPECT_EQ(budget.peak(), 101);
}

TEST(MemoryBudgetTest, WakesNobodyWhereNobodyWasRefused) {
  MemoryBudget budget(100);
  ASSERT_TRUE(budget.reserve(100, false));
  budget.release(100);
  EXPECT_FALSE(budget.take_wake_up());
}

TEST(MemoryBudgetTest, WakesOnceWhenTheLeastOfTheNeedsCanBeMet) {
  MemoryBudget budget(100);
  ASSERT_TRUE(budget.reserve(100, false));
  EXPECT_FALSE(budget.reserve(50, false));
  EXPECT_FALSE(budget.reserve(30, false));
  EXPECT_FALSE(budget.reserve(40, false));
  budget.release(29);
  EXPECT_FALSE(budget.take_wake_up());
  budget.release(1);
  EXPECT_TRUE(budget.take_wake_up());
  EXPECT_FALSE(budget.take_wake_up()) << "once";
}

// What was kept for others is part of the need, and gone when their claim is: note_need(0).
TEST(MemoryBudgetTest, WakesWhoeverWasRefusedOnAnothersAccount) {
  MemoryBudget budget(100);
  ASSERT_TRUE(budget.reserve(50, false));
  EXPECT_FALSE(budget.reserve(20, false, 40));
  EXPECT_FALSE(budget.take_wake_up());
  budget.note_need(0);
  EXPECT_TRUE(budget.take_wake_up());
}

TEST(MemoryBudgetTest, HasRoomAsSoonAsItsLimitIsRaised) {
  MemoryBudget budget(100);
  ASSERT_TRUE(budget.reserve(100, false));
  EXPECT_FALSE(budget.reserve(50, false));
  budget.set_limit(150);
  EXPECT_TRUE(budget.take_wake_up());
  EXPECT_TRUE(budget.reserve(50, false));
}

TEST(MemoryBudgetTest, NeverGivesTooMuchToManyThreads) {
  constexpr std::int64_t kMost = 1000;
  MemoryBudget budget(kMost);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&budget, t] {
      for (std::int64_t i = 0; i < 20'000; ++i) {
        const std::int64_t bytes = 1 + (i * 7 + t) % 600;
        if (budget.reserve(bytes, false)) budget.settle(bytes, 0, bytes / 2), budget.release(bytes / 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used(), 0);
  EXPECT_LE(budget.peak(), kMost);
  EXPECT_EQ(budget.overshot_bytes(), 0);
}

}  // namespace
}  // namespace penstock
