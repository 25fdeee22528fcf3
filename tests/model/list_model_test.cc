// The referee is checked by hand: every expected sequence here is written out, none computed.
#include "tests/model/run.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace model {
namespace {

Op range(std::int64_t n) { return {.kind = Kind::range, .count = n}; }
Op with_count(Kind kind, std::int64_t n) { return {.kind = kind, .count = n}; }
Op fails_on(std::int64_t mod, std::int64_t rem) { return {.kind = Kind::map, .fails = {mod, rem}}; }
Op shard(std::int64_t n, std::int64_t i) { return {.kind = Kind::shard, .count = n, .index = i}; }

TEST(ListModel, GivesTheExamplesOfTheHeaders) {
  EXPECT_EQ(run({{.kind = Kind::range, .count = 4, .step = 3}}), "0 3 6 9");
  EXPECT_EQ(run({range(10), shard(3, 1)}), "1 4 7");
  EXPECT_EQ(run({range(2), with_count(Kind::repeat, 2)}), "0 1 0 1");
  EXPECT_EQ(run({range(10), with_count(Kind::take, 3)}), "0 1 2");
  EXPECT_EQ(run({range(5), with_count(Kind::skip, 3)}), "3 4");
  EXPECT_EQ(run({range(3), {.kind = Kind::map, .step = 2}}), "0 2 4");
}

TEST(ListModel, CountsWhatIgnoreErrorsLeavesOut) {
  Pipeline pipeline({range(4), fails_on(2, 1), {.kind = Kind::ignore_errors}, with_count(Kind::take, 1)});
  for (int epoch = 0; epoch < 2; ++epoch) {
    pipeline.begin_epoch(0);
    EXPECT_EQ(pipeline.next()->value.number, 0);
    EXPECT_FALSE(pipeline.next().has_value());
    EXPECT_EQ(pipeline.dropped(), 0);
  }
  Pipeline whole({range(4), fails_on(2, 1), {.kind = Kind::ignore_errors}});
  whole.begin_epoch(0);
  while (whole.next()) {
  }
  EXPECT_EQ(whole.dropped(), 2);
}

TEST(ListModel, PassThatFailsToBeginHasNothingButThat) {
  const Op source{.kind = Kind::from_generator, .count = 2, .fails_passes = {2, 1}};
  EXPECT_EQ(run({source, with_count(Kind::repeat, 3)}), "0 1 X0 0 1");
}

TEST(ListModel, TakesAndSkipsAllForMinusOne) {
  EXPECT_EQ(run({range(3), with_count(Kind::take, -1)}), "0 1 2");
  EXPECT_EQ(run({range(3), with_count(Kind::skip, -1)}), "");
}

TEST(ListModel, BatchesKeepTheirRestUnlessDropped) {
  EXPECT_EQ(run({range(5), with_count(Kind::batch, 2)}), "[0 1] [2 3] [4]");
  EXPECT_EQ(run({range(5), {.kind = Kind::batch, .count = 2, .drop_remainder = true}}), "[0 1] [2 3]");
  EXPECT_EQ(run({range(3), with_count(Kind::batch, 2), with_count(Kind::batch, 2)}), "[[0 1] [2]]");
  EXPECT_EQ(run({range(5), with_count(Kind::batch, 2), {.kind = Kind::unbatch}}), "0 1 2 3 4");
}

// tfdata.md 2.2 and engine.md rule 8: 1 2 3 X 5 6 in twos.
TEST(ListModel, ABatchPassesAnErrorAtOnceAndKeepsWhatItHas) {
  EXPECT_EQ(run({{.kind = Kind::range, .count = 6, .first = 1}, fails_on(6, 4), with_count(Kind::batch, 2)}),
            "[1 2] X1 [3 5] [6]");
}

TEST(ListModel, ABatchReportsARowOfAnotherShapeInItsPlace) {
  EXPECT_EQ(run({{.kind = Kind::from_vector, .count = 4, .lists = true}, with_count(Kind::batch, 2)}), "X1 [0 2] [3]");
}

TEST(ListModel, TakeAndSkipDoNotCountErrors) {
  EXPECT_EQ(run({range(4), fails_on(4, 1), with_count(Kind::take, 2)}), "0 X1 2");
  EXPECT_EQ(run({range(4), fails_on(4, 0), with_count(Kind::skip, 2)}), "X1 3");
}

TEST(ListModel, TakeGivesNoErrorBehindItsLastElement) {
  EXPECT_EQ(run({range(4), fails_on(4, 2), with_count(Kind::take, 2)}), "0 1");
  EXPECT_EQ(run({range(4), fails_on(4, 0), with_count(Kind::take, 0)}), "");
}

TEST(ListModel, AnErrorBelongsToTheShardOfItsPosition) {
  EXPECT_EQ(run({range(6), fails_on(6, 2), shard(2, 0)}), "0 X1 4");
  EXPECT_EQ(run({range(6), fails_on(6, 2), shard(2, 1)}), "1 3 5");
}

TEST(ListModel, ShardCountsOnAcrossThePassesBeforeIt) {
  EXPECT_EQ(run({range(5), with_count(Kind::repeat, -1), shard(3, 1), with_count(Kind::take, 5)}), "1 4 2 0 3");
}

TEST(ListModel, AnEndlessRepeatEndsAtAPassWithNothing) {
  EXPECT_EQ(run({range(0), with_count(Kind::repeat, -1)}), "");
  EXPECT_EQ(run({range(4), {.kind = Kind::filter, .keeps = {9, 8}}, with_count(Kind::repeat, -1)}), "");
  EXPECT_EQ(run({range(1), fails_on(1, 0), with_count(Kind::repeat, -1)}, {}, 3), "X1 X1 X1");
}

TEST(ListModel, RepeatsNest) {
  EXPECT_EQ(run({range(2), with_count(Kind::repeat, 3), with_count(Kind::take, 3), with_count(Kind::repeat, 2)}),
            "0 1 0 0 1 0");
  EXPECT_EQ(run({range(2), with_count(Kind::repeat, 0), with_count(Kind::repeat, -1)}), "");
}

TEST(ListModel, IgnoresErrorsOfAnyOpBefore) {
  EXPECT_EQ(run({range(3), {.kind = Kind::unbatch}, {.kind = Kind::ignore_errors}}), "");
  EXPECT_EQ(run({range(4), fails_on(2, 1), {.kind = Kind::ignore_errors}}), "0 2");
}

TEST(ListModel, SumsInASteadyNumberAndMayEndThePass) {
  EXPECT_EQ(run({range(5), with_count(Kind::own_stream, 2)}), "1 5 4");
  EXPECT_EQ(run({range(5), {.kind = Kind::own_stream, .count = 2, .index = 1}, with_count(Kind::repeat, 2)}), "1 1");
}

TEST(ListModel, StampsSayEpochPassAndPosition) {
  Pipeline pipeline({range(2), {.kind = Kind::map, .stamped = true}, with_count(Kind::repeat, 2)});
  pipeline.begin_epoch(1);
  std::vector<std::int64_t> numbers;
  while (const auto item = pipeline.next()) numbers.push_back(item->value.number);
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{100'003, 100'017, 101'012, 101'026}));
}

// As many numbers as passes: 0 and 1, and for the second round of the outer repeat 0x9E3779B1 more.
TEST(ListModel, PassesOfNestedRepeatsHaveNumbersOfTheirOwn) {
  Pipeline pipeline({range(1), with_count(Kind::repeat, 2), with_count(Kind::repeat, 1), with_count(Kind::repeat, 2)});
  pipeline.begin_epoch(0);
  std::vector<std::uint32_t> passes;
  while (const auto item = pipeline.next()) passes.push_back(item->origin.pass);
  EXPECT_EQ(passes, (std::vector<std::uint32_t>{0, 1, 0x9E3779B1u, 0x9E3779B2u}));
}

// ---------------------------------------------------------------------------------- shuffles

Tape tape_of(std::initializer_list<std::int64_t> order, bool ended) {
  TapePass pass{.ended = ended};
  for (const std::int64_t x : order) pass.items.push_back({.value = number(x), .origin = {0, 0, x}});
  return {pass};
}

TEST(ListModel, FollowsALegalOrderOfAShuffle) {
  const std::vector<Op> ops{range(4), with_count(Kind::shuffle, 2), shard(2, 1)};
  EXPECT_EQ(run(ops, {{}, tape_of({1, 0, 3, 2}, true)}), "0 2");
}

TEST(ListModel, RefusesAnElementThatLeavesTooEarly) {
  const std::vector<Op> ops{range(4), with_count(Kind::shuffle, 2)};
  EXPECT_THROW(run(ops, {{}, tape_of({2, 0, 1, 3}, true)}), IllegalOrder);
}

TEST(ListModel, RefusesAShuffleThatLosesOrRepeatsAnElement) {
  const std::vector<Op> ops{range(3), with_count(Kind::shuffle, 3)};
  EXPECT_THROW(run(ops, {{}, tape_of({2, 0}, true)}), IllegalOrder);
  EXPECT_THROW(run(ops, {{}, tape_of({2, 0, 0}, true)}), IllegalOrder);
  EXPECT_THROW(run(ops, {{}, tape_of({2, 0}, false)}), IllegalOrder);
}

TEST(ListModel, ACutTapeDoesForAShuffleThatIsNotReadToItsEnd) {
  EXPECT_EQ(run({range(9), with_count(Kind::shuffle, 9), with_count(Kind::take, 2)}, {{}, tape_of({7, 3}, false)}),
            "7 3");
}

TEST(ListModel, TellsGroupsBehindAnOpThatNeedNotKeepTheOrder) {
  Pipeline pipeline({range(2), {.kind = Kind::map, .arbitrary = true}, with_count(Kind::repeat, 2)});
  pipeline.begin_epoch(0);
  std::vector<int> groups;
  while (const auto item = pipeline.next()) groups.push_back(item->group);
  EXPECT_EQ(groups, (std::vector{1, 1, 2, 2}));
}

TEST(ListModel, GivesUpOnAPipelineThatNeverEnds) {
  Pipeline pipeline({range(2), with_count(Kind::repeat, -1), {.kind = Kind::filter, .keeps = {9, 8}}});
  pipeline.begin_epoch(0);
  EXPECT_THROW(pipeline.next(), TooMuchWork);
}

}  // namespace
}  // namespace model
