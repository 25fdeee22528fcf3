// Pipelines with branches in virtual time, against closed forms.
#include <gtest/gtest.h>

#include "tests/exam/rate_bound.h"
#include "tests/exam/test/worlds.h"

namespace penstock::exam {
namespace {

// 20 calls of 10 ms in one branch, 3 of 2 ms in the other.
SimulatedProcess& with_calls(SimulatedProcess& process, int waits, int computes) {
  process.run(0).knob("parallelism", waits).set(20);
  process.run(0).knob("window", waits).set(100);
  process.run(0).knob("parallelism", computes).set(3);
  return process;
}

TEST(SimulatedTrees, ZipIsAsFastAsItsSlowerBranch) {
  const ProcessSpec spec = process_of({waiting(10), another_source(), computing(2), zip_of_two()});
  SimulatedProcess process(spec, 1);
  EXPECT_NEAR(rate_of(with_calls(process, 1, 3), 4), 1'000, 15) << "two cores of the decoder";
  EXPECT_NEAR(rate_bound(spec.chains.front(), 2), 1'000, 1);
}

TEST(SimulatedTrees, SampleTakesOfEachBranchItsShare) {
  const ProcessSpec spec = process_of({waiting(10), another_source(), computing(2), sample_of({0.8, 0.2})});
  SimulatedProcess process(spec, 1);
  EXPECT_NEAR(rate_of(with_calls(process, 1, 3), 4), 2'000 / 0.8, 75) << "the branch that waits is the slower one";
  EXPECT_NEAR(rate_bound(spec.chains.front(), 2), 2 * 500 / 0.2, 10) << "of the cores";
}

TEST(VisitsOf, AStageAreAsManyAsItsWayToTheConsumerSays) {
  StageSpec shards = waiting(10);
  shards.fan_out = Distribution::geometric(4);
  StageSpec batch = computing(0);
  batch.batch = 10;
  const ChainSpec chain = process_of({shards, another_source(), computing(1), sample_of({0.8, 0.2}), another_source(),
                                      computing(1), zip_of_two(), batch})
                              .chains.front();
  const auto visits = [&](int stage) { return visits_of(chain, stage); };
  EXPECT_DOUBLE_EQ(visits(8), 10) << "the batch";
  EXPECT_DOUBLE_EQ(visits(7), 10) << "the zip";
  EXPECT_DOUBLE_EQ(visits(6), 10) << "its second branch";
  EXPECT_DOUBLE_EQ(visits(4), 10) << "its first one, the sample";
  EXPECT_DOUBLE_EQ(visits(3), 2) << "a fifth of that";
  EXPECT_DOUBLE_EQ(visits(1), 2) << "four fifths, from a quarter of as many calls";
}

}  // namespace
}  // namespace penstock::exam
