#include "bench/imagenet/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kSecond = 1'000'000'000;

// Ten seconds of a source, four blocking reads at once and a decoder on two cores.
Snapshot ten_seconds() {
  Snapshot snapshot;
  snapshot.time_ns = 10 * kSecond;
  snapshot.cpu_budget = 2;
  snapshot.stages.resize(3);
  snapshot.stages[0] = {.name = "from_vector", .position = 0};
  snapshot.stages[1] = {.name = "read", .position = 3, .parallel = true, .parallelism = 4, .on_pool = true};
  snapshot.stages[2] = {.name = "decode", .position = 4, .parallel = true, .parallelism = 2};
  snapshot.consumer.wait_ns = 9 * kSecond;
  snapshot.consumer.taken = 64;
  return snapshot;
}

TEST(Explain, TellsTheConsumersShareOfWaiting) {
  EXPECT_THAT(explain(ten_seconds()), HasSubstr("consumer: waited 90 % of 10 s for 64 batches; prefetch 1\n"));
}

TEST(Explain, TellsHowLongAnElementTookAndHowMuchOfItOnACpu) {
  Snapshot snapshot = ten_seconds();
  StageSnapshot& decode = snapshot.stages[2];
  decode.slot_ns = 15 * kSecond;
  decode.completed = 5000;
  decode.sampled_wall_ns = 400;
  decode.sampled_cpu_ns = 300;
  EXPECT_THAT(explain(snapshot), AllOf(HasSubstr("3 ms"), HasSubstr("75 %"), HasSubstr("1.50")));
}

TEST(Explain, ShowsADashWhereNothingWasMeasured) {
  const std::string text = explain(ten_seconds());
  EXPECT_THAT(text, AllOf(HasSubstr("        -         -"), Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
}

TEST(Explain, NamesTheConsumerWhereItDoesNotWait) {
  Snapshot snapshot = ten_seconds();
  snapshot.consumer.wait_ns = 0;
  EXPECT_THAT(explain(snapshot), HasSubstr("busy:     the consumer"));
}

TEST(Explain, NamesTheCoresAndTheirLargestUser) {
  Snapshot snapshot = ten_seconds();
  snapshot.stages[0].slot_ns = 1 * kSecond;
  snapshot.stages[1].slot_ns = 39 * kSecond;
  snapshot.stages[2].slot_ns = 18 * kSecond;
  EXPECT_THAT(explain(snapshot), HasSubstr("busy:     the cores: 1.90 of 2 CPU slots were in use, 1.80 of them by decode"));
}

TEST(Explain, NamesTheStageWhoseCallsWereAllUnderWay) {
  Snapshot snapshot = ten_seconds();
  snapshot.stages[1].slot_ns = 39 * kSecond;
  snapshot.stages[2].slot_ns = 5 * kSecond;
  EXPECT_THAT(explain(snapshot), HasSubstr("busy:     read: its calls were always under way; 0.50 of 2"));
}

TEST(Explain, SaysSoWhereNoStageWasBusyAllTheTime) {
  Snapshot snapshot = ten_seconds();
  snapshot.stages[1].slot_ns = 20 * kSecond;
  EXPECT_THAT(explain(snapshot), HasSubstr("busy:     no stage all the time"));
}

TEST(Explain, SaysThatNothingWasMeasuredOfARunThatDidNotRun) {
  EXPECT_THAT(explain(Snapshot()), HasSubstr("nothing was measured"));
}

}  // namespace
}  // namespace penstock::bench
