// take(-1), skip(0), shard(1, 0) are left out.
#include <gtest/gtest.h>
#include <penstock/penstock.h>

#include <memory>
#include <string>

#include "tests/rewrite/support.h"

namespace penstock {
namespace {

using testing::as_it_is_run;
using testing::is_the_same;
using testing::stamped;
using testing::written;

constexpr Rewrites kNoopsAlone{
    .noop_elimination = true, .selection_pushdown = false, .map_fusion = false, .map_and_filter_fusion = false};

std::int64_t failing(std::int64_t x) {
  if (x % 3 == 1) throw std::runtime_error("one of three");
  return x;
}

TEST(NoopElimination, LeavesOutWhatHandsOnAll) {
  const auto dataset = range(7).map(failing).take(-1).skip(0).shard(1, 0).batch(2);
  EXPECT_EQ(written(dataset),
            "0 range start=0, stop=7, step=1\n"
            "1 map parallelism=auto\n"
            "2 take count=all\n"
            "3 skip count=0\n"
            "4 shard num_shards=1, index=0\n"
            "5 batch batch_size=2\n");
  EXPECT_EQ(as_it_is_run(dataset, kNoopsAlone),
            "0 range start=0, stop=7, step=1\n"
            "1 map parallelism=auto\n"
            "5 batch batch_size=2\n");
}

// Without it the shuffle would be one of positions, which has another order.
TEST(NoopElimination, KeepsARepeatOfOnePass) {
  const auto dataset = range(18).skip(3).repeat(1).shuffle(24, {.seed = 3});
  EXPECT_EQ(as_it_is_run(dataset, kNoopsAlone), written(dataset));
  EXPECT_TRUE(is_the_same(dataset, kNoopsAlone));
}

TEST(NoopElimination, KeepsWhatLeavesSomethingOut) {
  const auto dataset = range(7).take(6).skip(1).repeat(2).shard(2, 0);
  EXPECT_EQ(as_it_is_run(dataset, kNoopsAlone), written(dataset));
}

TEST(NoopElimination, IsFoundInEachInputOfAMerge) {
  const auto dataset = range(4).map(failing).take(-1).concatenate(range(3).skip(0));
  EXPECT_EQ(as_it_is_run(dataset, kNoopsAlone),
            "0 range start=0, stop=4, step=1\n"
            "1 map parallelism=auto\n"
            "3 range start=0, stop=3, step=1\n"
            "5 concatenate of 1, 3\n");
  EXPECT_TRUE(is_the_same(dataset, kNoopsAlone));
}

// An op that it has passed keeps its number, in errors and in the order of a shuffle.
TEST(NoopElimination, ChangesNothingOfWhatIsGiven) {
  EXPECT_TRUE(
      is_the_same(range(50).take(-1).map(stamped).skip(0).map(failing).repeat(1).shuffle(7, {.seed = 3}), kNoopsAlone));
  EXPECT_TRUE(is_the_same(range(20).map(failing).take(-1).repeat(3).skip(0).take(30), kNoopsAlone));
}

TEST(NoopElimination, NamesTheErrorOfAnOpByItsNumberAsWritten) {
  auto run = range(3).take(-1).skip(0).map(failing).start();
  EXPECT_EQ(run.next(), 0);
  try {
    run.next();
    FAIL() << "the function threw";
  } catch (const ElementError& error) {
    EXPECT_EQ(error.place().position, 3);
    EXPECT_EQ(error.place().op, "map");
  }
}

// Whatever a checkpoint was taken with, and is resumed with.
TEST(NoopElimination, LeavesCheckpointsAsTheyAre) {
  const auto dataset = range(20).map(failing).take(-1).map(failing);
  for (const Rewrites& first : {Rewrites(), no_rewrites()}) {
    for (const Rewrites& second : {Rewrites(), no_rewrites()}) {
      auto run = dataset.start({.on_error = skip_all(), .rewrites = first});
      for (int i = 0; i < 5; ++i) run.next();
      const auto place = std::make_shared<const Checkpoint>(run.checkpoint());
      auto rest = dataset.start({.on_error = skip_all(), .resume_from = place, .rewrites = second});
      EXPECT_EQ(rest.next(), 8);
      EXPECT_EQ(rest.next(), 9);
    }
  }
}

}  // namespace
}  // namespace penstock
