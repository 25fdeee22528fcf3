#include <penstock/ops.h>

#include "tests/ops/op_checks.h"
#include "tests/support/expect_error.h"
#include "tests/support/recording_emitter.h"

namespace penstock {
namespace {

using testing::INF;
using testing::run_pass;
using testing::UNK;

TEST(Take, EndsThePassAfterItsLastElement) {
  EXPECT_EQ(run_pass(ops::take(3), testing::counting(10)), "0 1 2 |");
  EXPECT_EQ(run_pass(ops::take(3), "0 1 2"), "0 1 2 |");
  EXPECT_EQ(run_pass(ops::take(1), "0 1"), "0 |");
}

TEST(Take, GivesAllWhereThereAreFewer) {
  EXPECT_EQ(run_pass(ops::take(25), "0 1 2"), "0 1 2");
  EXPECT_EQ(run_pass(ops::take(-1), "0 1 2"), "0 1 2");
}

TEST(Take, OfNothingEndsThePassBeforeItBegins) { EXPECT_EQ(run_pass(ops::take(0), "0 x 1"), "|"); }

TEST(Take, PassesErrorsWithoutCountingThem) {
  EXPECT_EQ(run_pass(ops::take(2), "x 0 x x 1 2"), "x0 0 x2 x3 1 |");
  EXPECT_EQ(run_pass(ops::take(-1), "x 0"), "x0 0");
}

TEST(Take, LetsNoErrorThroughBehindItsLastElement) { EXPECT_EQ(run_pass(ops::take(1), "0 x x"), "0 |"); }

TEST(Take, CountsAnewInEachPass) {
  testing::StreamRun run(ops::take(2));
  EXPECT_EQ(run.pass("0 1 2").text(testing::print_integer), "0 1 |");
  EXPECT_EQ(run.pass("3").text(testing::print_integer), "3");
  EXPECT_EQ(run.pass("4 5 6").text(testing::print_integer), "4 5 |");
}

TEST(Take, OverPositionsGivesTheSameFromEveryStart) {
  for (std::int64_t n : {0, 1, 5, 12})
    for (std::int64_t count : {-1, 0, 1, 4, 5, 6, 100}) {
      SCOPED_TRACE(::testing::Message() << "take " << count << " of " << n);
      const auto sequence = testing::over_positions({ops::take(count)}, n);
      testing::expect_pass(*sequence, 0, 0, testing::first_positions(count < 0 ? n : std::min(count, n)));
    }
}

TEST(Take, KnowsItsCardinality) {
  testing::expect_cardinalities(ops::take(4), {{10, 4}, {3, 3}, {0, 0}, {INF, 4}, {UNK, UNK}});
  testing::expect_cardinalities(ops::take(-1), {{10, 10}, {INF, INF}, {UNK, UNK}});
  testing::expect_cardinalities(ops::take(0), {{10, 0}, {INF, 0}});
  testing::expect_keeps_leading_dimension(ops::take(4));
}

TEST(Take, RefusesOtherNegativeCounts) {
  EXPECT_ERROR(ops::take(-5), ErrorCode::invalid_argument,
               "count must be at least 0, or -1 for all elements, but is -5");
}

TEST(Take, PrintsItsCount) {
  EXPECT_EQ(ops::take(3)->parameters(), "count=3");
  EXPECT_EQ(ops::take(-1)->parameters(), "count=all");
}

}  // namespace
}  // namespace penstock
