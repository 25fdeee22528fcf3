// How threads that wait, and memory, are divided.
#include "autotune/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace penstock::autotune {
namespace {

TEST(Plan, GivesTheOnlyStageThatWaitsAllThreads) {
  const double rate = rate_for_threads({0.1}, 64);
  EXPECT_NEAR(rate * 0.1 + std::sqrt(rate * 0.1), 64, 1e-6);
  EXPECT_EQ(calls_at(rate, 0.1), 64);
}

TEST(Plan, GivesNoMoreThanThereIs) {
  const std::vector<double> call_s = {0.008, 0.103, 0.003, 0.0034};
  const double rate = rate_for_threads(call_s, 64);
  std::int64_t sum = 0;
  for (const double each : call_s) sum += calls_at(rate, each);
  EXPECT_LE(sum, 64);
  EXPECT_GE(sum, 61);  // whole calls
}

// A stage with a load of a twentieth of the other's needs more than a twentieth of its calls: so few have no slack
// among themselves.
TEST(Plan, LeavesSlackToStagesOfFewCalls) {
  const double rate = rate_for_threads({0.1, 0.005}, 64);
  EXPECT_GE(static_cast<double>(calls_at(rate, 0.005)), 1.5 * rate * 0.005);
}

TEST(Plan, GivesEachStageOneThreadWhereThereAreTooFew) {
  const double rate = rate_for_threads({0.1, 0.1, 0.1}, 2);
  EXPECT_EQ(calls_at(rate, 0.1), 1);
}

// Nobody can start fewer calls than one of each, and then they deliver something.
TEST(Plan, IsARateEvenWhereThereAreFewerThreadsThanStages) {
  EXPECT_DOUBLE_EQ(rate_for_threads({0.1, 0.1, 0.1}, 2), rate_for_threads({0.1, 0.1, 0.1}, 3));
  EXPECT_GT(rate_for_threads({0.1, 0, 0.1}, 1), 0);
}

TEST(Plan, BoundsNothingWhereNobodyWaits) { EXPECT_TRUE(std::isinf(rate_for_threads({}, 64))); }

TEST(Plan, LeavesMemoryForAStandardDeviationOfWhatCallsHold) {
  const std::vector<MemoryUse> stages = {{10, 0.1}, {20, 0.05}};
  const double rate = rate_for_memory(stages, 1e9, 1000);
  EXPECT_NEAR(10 * 0.1 * rate + 20 * 0.05 * rate + std::sqrt(100 * 0.1 * rate + 400 * 0.05 * rate), 1000, 1e-3);
  EXPECT_DOUBLE_EQ(held_by({{10, 0.1, 7}, {20, 0.05, 3}}), 130);
}

TEST(Plan, LeavesARateThatFitsAsItIs) {
  EXPECT_EQ(rate_for_memory({{10, 0.1}, {20, 0.05}}, 50, 1000), 50);
  EXPECT_TRUE(std::isinf(rate_for_memory({{10, 0}, {0, 0.05}}, std::numeric_limits<double>::infinity(), 1000)));
}

}  // namespace
}  // namespace penstock::autotune
