#include <penstock/ops.h>

#include "tests/ops/op_checks.h"
#include "tests/support/expect_error.h"
#include "tests/support/recording_emitter.h"

namespace penstock {
namespace {

using testing::INF;
using testing::run_pass;
using testing::UNK;

TEST(Skip, LeavesOutTheFirstElements) {
  EXPECT_EQ(run_pass(ops::skip(4), testing::counting(7)), "4 5 6");
  EXPECT_EQ(run_pass(ops::skip(0), "0 1"), "0 1");
  EXPECT_EQ(run_pass(ops::skip(2), "0 1"), "");
  EXPECT_EQ(run_pass(ops::skip(25), "0 1"), "");
}

TEST(Skip, OfMinusOneLeavesNothing) { EXPECT_EQ(run_pass(ops::skip(-1), "0 1 2"), ""); }

TEST(Skip, PassesErrorsWithoutCountingThem) {
  EXPECT_EQ(run_pass(ops::skip(2), "0 x 1 2 x"), "x1 2 x4");
  EXPECT_EQ(run_pass(ops::skip(-1), "0 x 1"), "x1");
}

TEST(Skip, CountsAnewInEachPass) {
  testing::StreamRun run(ops::skip(2));
  EXPECT_EQ(run.pass("0 1 2").text(testing::print_integer), "2");
  EXPECT_EQ(run.pass("3").text(testing::print_integer), "");
  EXPECT_EQ(run.pass("4 5 6").text(testing::print_integer), "6");
}

TEST(Skip, OverPositionsGivesTheSameFromEveryStart) {
  for (std::int64_t n : {0, 1, 5, 12})
    for (std::int64_t count : {-1, 0, 1, 4, 5, 6, 100}) {
      SCOPED_TRACE(::testing::Message() << "skip " << count << " of " << n);
      const auto skipped = static_cast<std::size_t>(count < 0 ? n : count);
      const auto sequence = testing::over_positions({ops::skip(count)}, n);
      testing::expect_pass(*sequence, 0, 0, testing::behind(testing::first_positions(n), skipped));
    }
}

TEST(Skip, KnowsItsCardinality) {
  testing::expect_cardinalities(ops::skip(4), {{10, 6}, {4, 0}, {3, 0}, {INF, INF}, {UNK, UNK}});
  testing::expect_cardinalities(ops::skip(-1), {{10, 0}, {0, 0}, {INF, INF}, {UNK, UNK}});
  testing::expect_keeps_leading_dimension(ops::skip(4));
}

TEST(Skip, RefusesOtherNegativeCounts) {
  EXPECT_ERROR(ops::skip(-5), ErrorCode::invalid_argument,
               "count must be at least 0, or -1 for all elements, but is -5");
}

TEST(Skip, PrintsItsCount) {
  EXPECT_EQ(ops::skip(3)->parameters(), "count=3");
  EXPECT_EQ(ops::skip(-1)->parameters(), "count=all");
}

}  // namespace
}  // namespace penstock
