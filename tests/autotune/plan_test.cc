// How threads that wait are divided.
#include "autotune/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace penstock::autotune {
namespace {

TEST(Plan, GivesTheOnlyStageThatWaitsAllThreads) {
  const double rate = affordable_rate({0, 0.1}, 64);
  EXPECT_NEAR(rate * 0.1 + std::sqrt(rate * 0.1), 64, 1e-6);
  EXPECT_EQ(calls_at(rate, 0.1), 64);
}

TEST(Plan, GivesNoMoreThanThereIs) {
  const std::vector<double> call_s = {0.008, 0.103, 0.003, 0, 0.0034};
  const double rate = affordable_rate(call_s, 64);
  std::int64_t sum = 0;
  for (const double each : call_s) sum += each > 0 ? calls_at(rate, each) : 0;
  EXPECT_LE(sum, 64);
  EXPECT_GE(sum, 61);  // whole calls
}

// A stage with a load of a twentieth of the other's needs more than a twentieth of its calls: so few have no slack among themselves.
TEST(Plan, LeavesSlackToStagesOfFewCalls) {
  const double rate = affordable_rate({0.1, 0.005}, 64);
  EXPECT_GE(static_cast<double>(calls_at(rate, 0.005)), 1.5 * rate * 0.005);
}

TEST(Plan, GivesEachStageOneThreadWhereThereAreTooFew) {
  const double rate = affordable_rate({0.1, 0.1, 0.1}, 2);
  EXPECT_EQ(calls_at(rate, 0.1), 1);
}

// Nobody can start fewer calls than one of each, and then they deliver something.
TEST(Plan, IsARateEvenWhereThereAreFewerThreadsThanStages) {
  EXPECT_DOUBLE_EQ(affordable_rate({0.1, 0.1, 0.1}, 2), affordable_rate({0.1, 0.1, 0.1}, 3));
  EXPECT_GT(affordable_rate({0.1, 0, 0.1}, 1), 0);
}

TEST(Plan, BoundsNothingWhereNobodyWaits) { EXPECT_TRUE(std::isinf(affordable_rate({0, 0}, 64))); }

}  // namespace
}  // namespace penstock::autotune
