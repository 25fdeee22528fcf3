// What a stage learns of its calls.
#include "lib/exec/meter.h"

#include <numeric>
#include <string>
#include <typeinfo>

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

struct Metered : PartOf {
  using PartOf::PartOf;
  Meter meter{traits};
};

TEST(Meter, IntegratesWhatHeldSinceTheLastEvent) {
  Metered of;
  const std::int64_t begin = of.meter.accounted_until();
  of.meter.account(begin + 10, 3, false, true);
  of.meter.account(begin + 15, 2, true, false);
  EXPECT_EQ(of.meter.counters.slot_ns, 30 + 10);
  EXPECT_EQ(of.meter.counters.starved_ns, 5);
  EXPECT_EQ(of.meter.counters.blocked_ns, 10);
  StageSnapshot snapshot;
  of.meter.describe(begin + 16, 4, snapshot);
  EXPECT_EQ(snapshot.slot_ns, 44) << "with what has passed since";
  EXPECT_EQ(of.meter.counters.slot_ns, 40);
}

TEST(Meter, KnowsNothingBeforeTheFirstCallHasEnded) {
  Metered of;
  EXPECT_EQ(of.meter.ns_per_slot(), 0);
  EXPECT_EQ(of.meter.expected_bytes(true), 0);
  EXPECT_EQ(of.meter.results_each(1), 1);
}

TEST(Meter, KnowsWhatTheTypeOfTheResultsTells) {
  Metered of(mapped_to_numbers());
  EXPECT_EQ(of.meter.expected_bytes(false), sizeof(std::int64_t) + sizeof(Slot));
  teach(of.meter, 100, 10, 0);  // all have failed
  EXPECT_EQ(of.meter.expected_bytes(false), sizeof(std::int64_t) + sizeof(Slot));
}

TEST(Meter, AveragesOverTheLastCalls) {
  Metered of;
  teach(of.meter, 4, 100, 50);
  EXPECT_DOUBLE_EQ(of.meter.ns_per_slot(), 100) << "the first one is all that is known";
  EXPECT_DOUBLE_EQ(of.meter.bytes(), 50);
  teach(of.meter, 1, 200, 150);
  EXPECT_DOUBLE_EQ(of.meter.ns_per_slot(), 110) << "one call more, on however many";
  EXPECT_DOUBLE_EQ(of.meter.bytes(), 60);
  for (int i = 0; i < 100; ++i) teach(of.meter, 1, 200, 150);
  EXPECT_NEAR(of.meter.ns_per_slot(), 200, 0.1);
  EXPECT_EQ(of.meter.counters.completed, 105);
}

// Time that it took to read the thread's clocks is none of the call's.
TEST(Meter, CountsTheTimeOfThoseThatLeftInParts) {
  Metered of;
  Group group;
  group.taken = 3;
  group.start.ns = 1000;
  group.sample.asking_ns = 200;
  group.sample.is_taken = true;
  of.meter.learn(group, 1, 70, 1000 + 200 + 400);
  EXPECT_DOUBLE_EQ(of.meter.ns_per_slot(), 100) << "one of four";
  EXPECT_DOUBLE_EQ(of.meter.bytes(), 70) << "of the one whose results were there";
  EXPECT_EQ(of.meter.counters.completed, 1);
  EXPECT_EQ(of.meter.counters.sampled_elements, 4);
  EXPECT_EQ(of.meter.counters.sampled_wall_ns, 400);
  EXPECT_EQ(of.meter.counters.sampling_ns, 200);
  EXPECT_EQ(of.meter.counters.sampled_waiting_ns, 0) << "it is not known to have waited";
  EXPECT_EQ(
      std::accumulate(of.meter.counters.service_times.begin(), of.meter.counters.service_times.end(), std::int64_t{0}),
      4);
  group.sample.awake_ns = 100;
  of.meter.learn(group, 1, 70, 1000 + 200 + 400);
  EXPECT_EQ(of.meter.counters.sampled_waiting_ns, 300);
}

TEST(Meter, LearnsNothingOfAStreamOpsResultsThatLeftInParts) {
  Metered of(range(10).batch(2).node());
  Group group;
  group.taken = 3;
  of.meter.learn(group, 0, 0, 400);
  EXPECT_EQ(of.meter.ns_per_slot(), 0) << "they are none of its inputs";
}

TEST(Meter, ForgetsOneOutlierAndNotThoseThatComeAgain) {
  constexpr double kLarge = 1'000'000;
  Metered of;
  for (int i = 0; i < 10; ++i) teach(of.meter, 1, 100, 1000);
  EXPECT_DOUBLE_EQ(of.meter.expected_bytes(true), 1000);
  teach(of.meter, 1, 100, static_cast<std::int64_t>(kLarge));
  EXPECT_DOUBLE_EQ(of.meter.expected_bytes(true), kLarge);
  EXPECT_LT(of.meter.expected_bytes(false), kLarge / 5) << "the average alone";
  for (int i = 0; i < 100; ++i) teach(of.meter, 1, 100, 1000);
  EXPECT_GT(of.meter.expected_bytes(true), kLarge / 50);
  EXPECT_LT(of.meter.expected_bytes(true), kLarge / 20);
  for (int i = 0; i < 200; ++i) teach(of.meter, 1, 100, i % 20 == 0 ? static_cast<std::int64_t>(kLarge) : 1000);
  EXPECT_GT(of.meter.expected_bytes(true), kLarge / 2);
}

TEST(Meter, CountsResultsOfEachInput) {
  Metered of;
  Sealed results;
  results.elements = 30;
  results.bytes = 300;
  results.errors = 2;
  of.meter.learn(Group(), 10, 300, 100);
  of.meter.count_results(results);
  EXPECT_DOUBLE_EQ(of.meter.results_each(1), 3);
  EXPECT_DOUBLE_EQ(of.meter.results_each(5), 5);
  EXPECT_EQ(of.meter.counters.bytes_out, 300);
  EXPECT_EQ(of.meter.counters.errors, 2);
}

TEST(Meter, RemembersTheFirstTypeThatNobodyCanSeeInto) {
  Metered of;
  Sealed results;
  results.unseen = results.unseen_part = &typeid(int);
  of.meter.count_results(results);
  EXPECT_EQ(of.meter.counters.unseen_type, "int");
  results.unseen = &typeid(double);
  of.meter.count_results(results);
  EXPECT_EQ(of.meter.counters.unseen_type, "int");
  Metered part;
  part.meter.count_results(results);
  EXPECT_EQ(part.meter.counters.unseen_type, "double (because of int in it)");
}

TEST(Meter, TellsByHowMuchWhatTheOpHoldsHasGrown) {
  Metered of;
  EXPECT_EQ(of.meter.count_held(100), 100);
  EXPECT_EQ(of.meter.count_held(30), -70);
  StageSnapshot snapshot;
  of.meter.describe(0, 0, snapshot);
  EXPECT_EQ(snapshot.bytes_held, 30);
}

TEST(Meter, KnowsWhatTheOpMustHold) {
  Metered of(range(10).batch(4).node());
  ASSERT_EQ(of.traits.plan.holding.elements, 4);
  Group group;
  group.inputs.bytes = 3 * 1000;
  of.meter.learn(group, 3, 0, 100);
  const std::int64_t each = 1000 + of.traits.plan.holding.bytes_of_place - static_cast<std::int64_t>(sizeof(Slot));
  StageSnapshot snapshot;
  of.meter.describe(0, 0, snapshot);
  EXPECT_EQ(snapshot.bytes_required, 3 * each) << "of those that have come";
  EXPECT_EQ(snapshot.bytes_required_in_all, 4 * each);
}

// Of so many calls, one beginning each so many ns: how many are to be sampled.
int sampled(int calls, std::int64_t each_ns) {
  Metered of;
  int count = 0;
  Group group;
  for (group.start.ns = of.meter.accounted_until(); calls > 0; --calls, group.start.ns += each_ns) {
    ++of.meter.counters.calls;
    count += of.meter.sample_now(group);
  }
  return count;
}

TEST(Meter, SamplesTheFirstCallsAndThenOneEachFewMilliseconds) {
  EXPECT_EQ(sampled(8, 1), 8);
  EXPECT_LE(sampled(1000, 1), 10);
  EXPECT_NEAR(sampled(10'000, 40'000), 100, 40) << "0.4 s";
  EXPECT_GE(sampled(1000, 8'000'000), 970) << "each of those that are seldom, when that is known";
}

}  // namespace
}  // namespace penstock::exec
