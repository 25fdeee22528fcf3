#include <penstock/ops.h>

#include <limits>

#include "lib/graph/control_ops.h"
#include "tests/ops/op_checks.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using testing::INF;
using testing::UNK;

TEST(Repeat, TellsTheEngineItsCount) {
  EXPECT_EQ(dynamic_cast<const graph::RestartOp&>(*ops::repeat(3)).count(), 3);
  EXPECT_EQ(dynamic_cast<const graph::RestartOp&>(*ops::repeat(-1)).count(), -1);
}

TEST(Repeat, KnowsItsCardinality) {
  testing::expect_cardinalities(ops::repeat(3), {{5, 15}, {0, 0}, {INF, INF}, {UNK, UNK}});
  testing::expect_cardinalities(ops::repeat(0), {{5, 0}, {0, 0}, {INF, 0}, {UNK, 0}});
  testing::expect_cardinalities(ops::repeat(-1), {{5, INF}, {0, 0}, {INF, INF}, {UNK, INF}});
  testing::expect_keeps_leading_dimension(ops::repeat(3));
}

TEST(Repeat, DoesNotClaimANumberThatOverflows) {
  testing::expect_cardinalities(ops::repeat(3), {{std::numeric_limits<std::int64_t>::max() / 2, UNK}});
}

TEST(Repeat, RefusesOtherNegativeCounts) {
  EXPECT_ERROR(ops::repeat(-5), ErrorCode::invalid_argument, "count must be at least 0, or -1 for ever, but is -5");
}

TEST(Repeat, PrintsItsCount) {
  EXPECT_EQ(ops::repeat(3)->parameters(), "count=3");
  EXPECT_EQ(ops::repeat(-1)->parameters(), "count=for ever");
}

}  // namespace
}  // namespace penstock
