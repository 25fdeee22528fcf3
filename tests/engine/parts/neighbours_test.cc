// What is known of the stages before and behind one.
#include "lib/exec/neighbours.h"

#include <penstock/merging.h>

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

// range, map, filter, batch: the filter and the batch pass memory on. No stage runs: the test sets their signs.
struct Known {
  Known() : traits() {
    for (std::size_t i = 0; i < plan->stages.size(); ++i)
      traits.push_back(std::make_unique<StageTraits>(plan->stages[i], i, host));
    for (std::size_t i = 0; i < traits.size(); ++i) neighbours.introduce(i, *traits[i], signs[i]);
  }

  const std::shared_ptr<const Plan> plan = compile(
      range(9).map([](std::int64_t i) { return i; }, 1).filter([](std::int64_t i) { return i > 0; }).batch(2).node());
  NotingHost host{kBudget, 4};
  std::vector<std::unique_ptr<StageTraits>> traits;
  std::vector<StageSigns> signs{4};
  std::atomic<std::int64_t> at_outlet{0};
  Neighbours neighbours{plan->edges, at_outlet};
};

TEST(Neighbours, AddUpWhatStagesBehindHaveClaimed) {
  Known of;
  for (std::size_t i = 0; i < 4; ++i) of.signs[i].claim = std::int64_t{1} << i;
  EXPECT_EQ(of.neighbours.memory_claimed_behind(0), 2 + 4 + 8);
  EXPECT_EQ(of.neighbours.memory_claimed_behind(2), 8);
  EXPECT_EQ(of.neighbours.memory_claimed_behind(3), 0) << "its own claim keeps nothing from it";
}

TEST(Neighbours, BehindAreEmptyUpToTheNextThatReserves) {
  Known of;
  ASSERT_FALSE(of.plan->stages[1].passes_memory_on);
  ASSERT_TRUE(of.plan->stages[2].passes_memory_on && of.plan->stages[3].passes_memory_on);
  EXPECT_TRUE(of.neighbours.is_empty_behind(0));
  of.signs[2].occupied = 1;
  EXPECT_TRUE(of.neighbours.is_empty_behind(0)) << "that lies behind the map, which reserves";
  EXPECT_FALSE(of.neighbours.is_empty_behind(1));
  EXPECT_TRUE(of.neighbours.is_empty_behind(2));
  of.signs[1].occupied = 1;
  EXPECT_FALSE(of.neighbours.is_empty_behind(0));
}

TEST(Neighbours, BehindAreNotEmptyWhileSlotsLieAtTheOutlet) {
  Known of;
  of.at_outlet = 1;
  EXPECT_FALSE(of.neighbours.is_empty_behind(1));
  EXPECT_FALSE(of.neighbours.is_empty_behind(3));
  EXPECT_TRUE(of.neighbours.is_empty_behind(0)) << "the map lies between";
}

TEST(Neighbours, AreFedWhereOneOfThemWaits) {
  Known of;
  EXPECT_FALSE(of.neighbours.feeds_one_that_waits(0));
  of.signs[1].on_pool = true;
  EXPECT_TRUE(of.neighbours.feeds_one_that_waits(0));
  EXPECT_TRUE(of.neighbours.feeds_one_that_waits(1)) << "itself";
  EXPECT_FALSE(of.neighbours.feeds_one_that_waits(2));
}

TEST(Neighbours, BringTheNextResultSoonWhereOnlyCheapCallsLieBetween) {
  Known of;
  EXPECT_FALSE(of.neighbours.brings_soon(3));
  of.signs[3].cheap = of.signs[2].cheap = of.signs[1].cheap = true;
  EXPECT_FALSE(of.neighbours.brings_soon(3)) << "nothing is under way";
  of.signs[1].busy = true;
  EXPECT_TRUE(of.neighbours.brings_soon(3));
  of.signs[2].cheap = false;
  EXPECT_FALSE(of.neighbours.brings_soon(3)) << "a dear call lies between";
  of.signs[2].busy = true;
  EXPECT_FALSE(of.neighbours.brings_soon(3)) << "a dear call is under way";
}

TEST(Neighbours, WatchForMemoryAsFarAsTheNearestThatReserves) {
  Known of;
  const auto nearest = [&](std::size_t stage) {
    std::vector<std::size_t> found;
    of.neighbours.for_each_nearest_that_reserves(stage, [&](std::size_t i) { found.push_back(i); });
    return found;
  };
  EXPECT_EQ(nearest(3), std::vector<std::size_t>{1});
  EXPECT_EQ(nearest(1), std::vector<std::size_t>{1});
  EXPECT_EQ(nearest(0), std::vector<std::size_t>{0});
  of.signs[0].waits_for_memory = true;
  EXPECT_FALSE(of.neighbours.is_watched(3));
  EXPECT_TRUE(of.neighbours.is_watched(1));
  EXPECT_FALSE(of.neighbours.is_watched(0)) << "there is nobody before";
  of.signs[1].waits_for_memory = true;
  EXPECT_TRUE(of.neighbours.is_watched(3));
  EXPECT_TRUE(of.neighbours.is_watched(2));
}

// Two maps, put together: map 1 of range 0, map 3 of range 2, zip 4.
struct KnownTree {
  KnownTree() {
    for (std::size_t i = 0; i < plan->stages.size(); ++i) {
      traits.push_back(std::make_unique<StageTraits>(plan->stages[i], i, host));
      signs.push_back(std::make_unique<StageSigns>(plan->stages[i].ports.size()));
      neighbours.introduce(i, *traits[i], *signs[i]);
    }
    signs[4]->ports.wanted = MergeSigns::kAll;
  }

  static Dataset<std::int64_t> mapped() {
    return range(9).map([](std::int64_t i) { return i; }, 1);
  }

  const std::shared_ptr<const Plan> plan = compile(zip(mapped(), mapped()).node());
  NotingHost host{kBudget, 5};
  std::vector<std::unique_ptr<StageTraits>> traits;
  std::vector<std::unique_ptr<StageSigns>> signs;
  std::atomic<std::int64_t> at_outlet{0};
  Neighbours neighbours{plan->edges, at_outlet};
};

TEST(Neighbours, BehindAreEmptyThoughAnotherInputOfAMergeIsNot) {
  KnownTree of;
  of.signs[4]->ports[0].occupied = 5;
  EXPECT_TRUE(of.neighbours.is_empty_behind(3)) << "or the merge would wait for it for ever";
  EXPECT_FALSE(of.neighbours.is_empty_behind(1));
  of.signs[4]->occupied = 1;
  EXPECT_FALSE(of.neighbours.is_empty_behind(3)) << "its ring";
}

TEST(Neighbours, BehindAreNotEmptyWhereAMergeDoesNotWantThisInput) {
  KnownTree of;
  of.signs[4]->ports.wanted = 0;
  EXPECT_FALSE(of.neighbours.is_empty_behind(3));
  EXPECT_TRUE(of.neighbours.is_empty_behind(1));
}

TEST(Neighbours, WatchAMergeFromEachInput) {
  KnownTree of;
  EXPECT_FALSE(of.neighbours.is_watched(4));
  of.signs[1]->waits_for_memory = true;
  EXPECT_TRUE(of.neighbours.is_watched(4));
  of.signs[1]->waits_for_memory = false;
  of.signs[3]->waits_for_memory = true;
  EXPECT_TRUE(of.neighbours.is_watched(4));
  std::vector<std::size_t> nearest;
  of.neighbours.for_each_nearest_that_reserves(4, [&](std::size_t i) { nearest.push_back(i); });
  EXPECT_EQ(nearest, (std::vector<std::size_t>{1, 3}));
}

TEST(Neighbours, AreAwaitedButForBranchesOfWhichAMergeNeedsNothingNow) {
  KnownTree of;
  of.signs[4]->ports[0].occupied = 5;
  EXPECT_FALSE(of.neighbours.is_awaited(0));
  EXPECT_FALSE(of.neighbours.is_awaited(1));
  EXPECT_TRUE(of.neighbours.is_awaited(2));
  EXPECT_TRUE(of.neighbours.is_awaited(3));
  EXPECT_TRUE(of.neighbours.is_awaited(4));
  of.signs[4]->ports[1].occupied = 1;
  EXPECT_TRUE(of.neighbours.is_awaited(1)) << "the merge lacks nothing: whatever comes next";
  of.signs[4]->ports.wanted = 1;
  of.signs[4]->ports[1].occupied = 0;
  of.signs[4]->ports[0].occupied = 0;
  EXPECT_FALSE(of.neighbours.is_awaited(1)) << "empty, and not wanted";
  EXPECT_TRUE(of.neighbours.is_awaited(3));
}

}  // namespace
}  // namespace penstock::exec
