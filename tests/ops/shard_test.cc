#include <penstock/ops.h>

#include <limits>

#include "lib/graph/traits.h"
#include "tests/ops/op_checks.h"
#include "tests/support/expect_error.h"
#include "tests/support/recording_emitter.h"

namespace penstock {
namespace {

using testing::Positions;
using testing::run_pass;
using testing::UNK;

Positions residue_class(std::int64_t n, std::int64_t num_shards, std::int64_t index) {
  Positions ours;
  for (std::int64_t i = 0; i < n; ++i)
    if (i % num_shards == index) ours.push_back(i);
  return ours;
}

TEST(Shard, KeepsEveryNthElement) {
  const std::string ten = testing::counting(10);
  EXPECT_EQ(run_pass(ops::shard(5, 2), ten), "2 7");
  EXPECT_EQ(run_pass(ops::shard(3, 0), ten), "0 3 6 9");
  EXPECT_EQ(run_pass(ops::shard(3, 1), ten), "1 4 7");
  EXPECT_EQ(run_pass(ops::shard(7, 5), ten), "5");
  EXPECT_EQ(run_pass(ops::shard(5, 2), "0"), "");
  EXPECT_EQ(run_pass(ops::shard(1, 0), "3 1 2"), "3 1 2");
}

TEST(Shard, CountsErrorsAsPositions) {
  EXPECT_EQ(run_pass(ops::shard(2, 0), "0 x 2 x 4 5"), "0 2 4");
  EXPECT_EQ(run_pass(ops::shard(2, 1), "0 x 2 x 4 5"), "x1 x3 5");
}

TEST(Shard, CountsAnewInEachPass) {
  testing::StreamRun run(ops::shard(2, 0));
  EXPECT_EQ(run.pass("0 1 2").text(testing::print_integer), "0 2");
  EXPECT_EQ(run.pass("3 4 5").text(testing::print_integer), "3 5");
}

TEST(Shard, KeepsTheStampsOfItsElements) {
  const auto out = testing::StreamRun(ops::shard(3, 2)).pass("5 6 7 8", 4, 1);
  ASSERT_EQ(out.slots.size(), 1u);
  EXPECT_EQ(out.slots[0].stamp.ordinal, 2);
  EXPECT_EQ(out.slots[0].stamp.epoch, 4u);
  EXPECT_EQ(out.slots[0].stamp.pass, 1u);
}

TEST(Shard, OverPositionsGivesTheSameFromEveryStart) {
  for (std::int64_t n : {0, 1, 2, 3, 10, 23})
    for (std::int64_t num_shards : {1, 2, 3, 7, 50})
      for (std::int64_t index = 0; index < num_shards; index += 1 + num_shards / 3) {
        SCOPED_TRACE(::testing::Message() << n << " positions, shard " << index << " of " << num_shards);
        const auto sequence = testing::over_positions({ops::shard(num_shards, index)}, n);
        testing::expect_pass(*sequence, 0, 0, residue_class(n, num_shards, index));
      }
}

TEST(Shard, OverPositionsTakesHugeSkips) {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  const auto sequence = testing::over_positions({ops::shard(2, 0)}, huge);
  sequence->begin_pass(0, 0);
  EXPECT_EQ(sequence->size(), huge / 2 + 1);
  sequence->skip(huge / 2);
  EXPECT_EQ(sequence->next(), huge - 1);
  EXPECT_EQ(sequence->next(), std::nullopt);
  sequence->begin_pass(0, 0);
  sequence->skip(huge);
  EXPECT_EQ(sequence->next(), std::nullopt);
}

TEST(Shard, SharesWithoutLossOrOverlap) {
  std::int64_t sum = 0;
  for (std::int64_t index = 0; index < 7; ++index) sum += ops::shard(7, index)->flow({.cardinality = 100}).cardinality;
  EXPECT_EQ(sum, 100);
}

TEST(Shard, KnowsItsCardinality) {
  testing::expect_cardinalities(ops::shard(3, 0), {{10, 4}, {0, 0}, {1, 1}, {testing::INF, testing::INF}, {UNK, UNK}});
  testing::expect_cardinalities(ops::shard(3, 2), {{10, 3}, {2, 0}, {3, 1}});
  testing::expect_keeps_leading_dimension(ops::shard(3, 2));
}

TEST(Shard, RefusesArgumentsOutOfRange) {
  const auto code = ErrorCode::invalid_argument;
  EXPECT_ERROR(ops::shard(0, 1), code, "num_shards must be at least 1, but is 0");
  EXPECT_ERROR(ops::shard(-3, 1), code, "num_shards must be at least 1, but is -3");
  EXPECT_ERROR(ops::shard(5, 7), code, "index must be at least 0 and below num_shards = 5, but is 7");
  EXPECT_ERROR(ops::shard(5, 5), code, "index must be at least 0 and below num_shards = 5, but is 5");
  EXPECT_ERROR(ops::shard(5, -3), code, "index must be at least 0 and below num_shards = 5, but is -3");
}

TEST(Shard, PrintsItsNumbers) { EXPECT_EQ(ops::shard(4, 3)->parameters(), "num_shards=4, index=3"); }

}  // namespace
}  // namespace penstock
