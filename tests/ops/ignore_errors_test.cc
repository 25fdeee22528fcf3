#include <penstock/ops.h>

#include "tests/ops/op_checks.h"
#include "tests/support/recording_emitter.h"

namespace penstock {
namespace {

using testing::INF;
using testing::run_pass;
using testing::UNK;

TEST(IgnoreErrors, DropsErrorsAndNothingElse) {
  EXPECT_EQ(run_pass(ops::ignore_errors(), "0 x 1 x x 2"), "0 ~ 1 ~ ~ 2");
  EXPECT_EQ(run_pass(ops::ignore_errors(), ""), "");
}

TEST(IgnoreErrors, KeepsStamps) {
  const auto out = testing::StreamRun(ops::ignore_errors()).pass("x 1");
  ASSERT_EQ(out.slots.size(), 1u);
  EXPECT_EQ(out.slots[0].stamp.ordinal, 1);
}

TEST(IgnoreErrors, HasAnUnknownCardinality) {
  testing::expect_cardinalities(ops::ignore_errors(), {{10, UNK}, {0, UNK}, {INF, UNK}, {UNK, UNK}});
  testing::expect_keeps_leading_dimension(ops::ignore_errors());
}

}  // namespace
}  // namespace penstock
