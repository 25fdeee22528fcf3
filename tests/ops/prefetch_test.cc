#include <penstock/ops.h>

#include "lib/graph/control_ops.h"
#include "tests/ops/op_checks.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using testing::INF;
using testing::UNK;

TEST(Prefetch, TellsTheEngineItsSize) {
  EXPECT_EQ(dynamic_cast<const graph::BufferOp&>(*ops::prefetch(5)).size().high(), 5);
  EXPECT_FALSE(dynamic_cast<const graph::BufferOp&>(*ops::prefetch(0)).size().is_automatic());
  EXPECT_TRUE(dynamic_cast<const graph::BufferOp&>(*ops::prefetch(AUTOTUNE)).size().is_automatic());
}

TEST(Prefetch, ChangesNeitherCardinalityNorRows) {
  testing::expect_cardinalities(ops::prefetch(2), {{10, 10}, {0, 0}, {INF, INF}, {UNK, UNK}});
  testing::expect_keeps_leading_dimension(ops::prefetch(2));
}

TEST(Prefetch, RefusesNegativeSizes) {
  EXPECT_ERROR(ops::prefetch(-2), ErrorCode::invalid_argument, "buffer_size must be at least 0, but is -2");
  EXPECT_ERROR(ops::prefetch(Tunable::between(9, 3)), ErrorCode::invalid_argument,
               "upper bound of buffer_size must be at least its lower bound 9, but is 3");
}

}  // namespace
}  // namespace penstock
