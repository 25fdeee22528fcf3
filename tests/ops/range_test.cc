#include "ops/range.h"

#include <penstock/ops.h>
#include <penstock/sources.h>

#include <limits>

#include "lib/graph/node.h"
#include "tests/ops/op_checks.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using testing::Positions;

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

Positions values(std::int64_t start, std::int64_t stop, std::int64_t step) {
  const ops::RangeSource source(start, stop, step);
  Positions all;
  for (std::int64_t i = 0; i < source.size(); ++i) all.push_back(source.at(i).take<std::int64_t>());
  return all;
}

TEST(Range, CountsUpAndDownWithoutItsStop) {
  EXPECT_EQ(values(0, 10, 3), (Positions{0, 3, 6, 9}));
  EXPECT_EQ(values(10, 0, -3), (Positions{10, 7, 4, 1}));
  EXPECT_EQ(values(0, 9, 3), (Positions{0, 3, 6}));
  EXPECT_EQ(values(-2, 2, 1), (Positions{-2, -1, 0, 1}));
}

TEST(Range, IsEmptyWhereItsStepLeadsAway) {
  for (const auto& [start, stop, step] :
       std::vector<std::array<std::int64_t, 3>>{{10, 5, 1}, {5, 10, -1}, {0, 0, -2}, {3, 3, 1}, {-4, -4, 2}})
    EXPECT_EQ(ops::RangeSource(start, stop, step).size(), 0) << start << " " << stop << " " << step;
}

TEST(Range, NeverOverflows) {
  EXPECT_EQ(values(2147483647, 2147483649, 1), (Positions{2147483647, 2147483648}));
  EXPECT_EQ(values(4294967295, 4294967297, 1), (Positions{4294967295, 4294967296}));
  EXPECT_EQ(values(highest - 1, highest, 5), (Positions{highest - 1}));
  EXPECT_EQ(values(lowest, highest, highest), (Positions{lowest, -1, highest - 1}));
  EXPECT_EQ(values(highest, lowest, lowest), (Positions{highest, -1}));
  EXPECT_EQ(ops::RangeSource(0, highest, 1).size(), highest);
}

TEST(Range, RefusesWhatItCannotCount) {
  EXPECT_ERROR(ops::range(10, 0, 0), ErrorCode::invalid_argument, "step must be anything but 0, but is 0");
  EXPECT_ERROR(ops::range(lowest, highest, 1), ErrorCode::invalid_argument, "more than 2^63 - 1 elements");
}

TEST(Range, KnowsItsCardinality) {
  EXPECT_EQ(range(5, 10, 2).cardinality(), 3);
  EXPECT_EQ(range(10, 5).cardinality(), 0);
  EXPECT_EQ(range(42).cardinality(), 42);
}

TEST(Range, PrintsItsBounds) {
  EXPECT_EQ(graph::pipeline_text(range(1, 9, 2).node()), "0 range(start=1, stop=9, step=2)\n");
}

TEST(Range, NamesTheUsersLineInAnError) {
  EXPECT_ERROR(range(1, 2, 0, {"src/train.cc", 12}), ErrorCode::invalid_argument,
               "range: step must be anything but 0, but is 0 (op 0 of the chain, train.cc:12)");
}

}  // namespace
}  // namespace penstock
