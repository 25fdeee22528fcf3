// What is said of a run in which nothing moves.
#include "lib/runtime/stand_still.h"

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;
using runtime::StandStill;
using ::testing::HasSubstr;
using ::testing::Not;

Snapshot waiting(std::int64_t time_ns, std::int64_t taken) {
  Snapshot snapshot;
  snapshot.time_ns = time_ns;
  snapshot.consumer.waiting = true;
  snapshot.consumer.taken = taken;
  snapshot.stages.resize(2);
  return snapshot;
}

exec::Plan two_ops() {
  exec::Plan plan;
  plan.stages.resize(2);
  plan.stages[0].label.name = "range";
  plan.stages[1].label.name = "map";
  plan.stages[1].label.position = 1;
  plan.stages[1].label.call_site = "train.cc:12";
  plan.stages[1].serial = false;
  plan.stages[1].parallelism = AUTOTUNE;
  return plan;
}

TEST(StandStill, BeginsWhenTheLastElementMoved) {
  StandStill still;
  EXPECT_EQ(still.look(waiting(10 * kSecond, 5)), 0);
  EXPECT_EQ(still.look(waiting(11 * kSecond, 5)), kSecond);
  EXPECT_EQ(still.look(waiting(12 * kSecond, 6)), 0) << "an element was delivered";
  Snapshot called = waiting(13 * kSecond, 6);
  called.stages[1].calls = 1;
  EXPECT_EQ(still.look(called), 0) << "a call began";
  called.time_ns += 4 * kSecond;
  EXPECT_EQ(still.look(called), 4 * kSecond);
}

TEST(StandStill, IsNoneWhileTheConsumerIsElsewhere) {
  StandStill still;
  Snapshot busy = waiting(kSecond, 5);
  busy.consumer.waiting = false;
  still.look(busy);
  busy.time_ns += 60 * kSecond;
  EXPECT_EQ(still.look(busy), 0);
}

TEST(StandStill, IsNewsOnce) {
  StandStill still;
  still.look(waiting(kSecond, 5));
  EXPECT_FALSE(still.is_news(waiting(5 * kSecond, 5)));
  EXPECT_TRUE(still.is_news(waiting(6 * kSecond, 5)));
  EXPECT_FALSE(still.is_news(waiting(60 * kSecond, 5)));
}

TEST(StandStill, IsNotEndedByWhatABranchReadsAheadThatNobodyWaitsFor) {
  StandStill still;
  still.look(waiting(kSecond, 5));
  Snapshot reads_ahead = waiting(2 * kSecond, 5);
  reads_ahead.stages[0].made = 100;
  EXPECT_EQ(still.look(reads_ahead), 0);
  reads_ahead.stages[0].awaited = false;
  still.look(reads_ahead);
  reads_ahead.time_ns += kSecond;
  reads_ahead.stages[0].made = 200;
  reads_ahead.stages[0].feeds = 1;
  reads_ahead.stages[1].elements_in = 100;
  reads_ahead.stages[1].calls = 1;
  EXPECT_EQ(still.look(reads_ahead), kSecond) << "the merge got it, and looked at it in vain";
}

TEST(StandStill, OfARunThatGoesOnByLentThreadsAloneIsToldWhileTheyComeOften) {
  StandStill still;
  const Snapshot now = waiting(kSecond, 5);
  still.look(now);
  for (int i = 1; i < StandStill::kOftenHelped; ++i) still.was_helped(now);
  EXPECT_EQ(still.text(now, two_ops()), "");
  EXPECT_FALSE(still.is_news(now));
  still.was_helped(now);
  EXPECT_TRUE(still.is_news(now));
  EXPECT_FALSE(still.is_news(now));
  EXPECT_THAT(still.text(now, two_ops()),
              HasSubstr("20 times in 5 elements, nothing moved that the consumer waited for, until a thread was lent"));
  const Snapshot later = waiting(20 * kSecond, 4000);
  still.look(later);
  EXPECT_EQ(still.text(later, two_ops()), "");
  still.was_helped(later);
  EXPECT_EQ(still.text(later, two_ops()), "") << "once in a while is not often";
}

TEST(StandStill, NamesCallsAndWhoWaitsForWhom) {
  Snapshot snapshot = waiting(9 * kSecond, 7);
  snapshot.stages[0].waiting_input = 0;
  StageSnapshot& map = snapshot.stages[1];
  map.running = 2;
  map.oldest_call_ns = 6 * kSecond;
  map.oldest_call_ordinal = 7;
  map.in_window = 9;
  map.ready = 3;
  map.waiting_input = 2;
  EXPECT_EQ(
      runtime::stand_still_text(snapshot, two_ops(), 6 * kSecond),
      "nothing that the consumer waits for has moved for 6 s, after 7 elements\n"
      "  range (op 0): waits for the next stage to make room\n"
      "  map (op 1, train.cc:12): 2 calls under way, the oldest for 6 s, at element 7 of the source or one behind it; "
      "4 elements are begun or done behind the oldest, which holds them up: order is kept; 5 elements wait to be "
      "begun\n"
      "  If map (op 1) waits for something that the consumer or another element holds (a buffer of a pool, say), fix "
      "its parallelism: "
      "\"Waiting\" in penstock/dataset.h says how many elements may then be under way");
}

Snapshot with_calls_under_way(std::size_t stage) {
  Snapshot snapshot = waiting(9 * kSecond, 7);
  snapshot.stages[stage].running = snapshot.stages[stage].parallelism = 2;
  return snapshot;
}

TEST(StandStill, DoesNotAdviseToFixAParallelismThatIsFixed) {
  exec::Plan plan = two_ops();
  plan.stages[1].parallelism = 2;
  const std::string text = runtime::stand_still_text(with_calls_under_way(1), plan, 6 * kSecond);
  EXPECT_THAT(
      text,
      HasSubstr(
          "The parallelism of map (op 1) is fixed at 2. If its calls wait for each other, it has to be as many as do"));
  EXPECT_THAT(text, Not(HasSubstr("fix its parallelism")));
}

TEST(StandStill, AdvisesToSayThatCallsBlockWhereTheyHaveAllCpuPermits) {
  Snapshot snapshot = with_calls_under_way(1);
  snapshot.stages[1].waits_for_cpu_slot = true;
  const std::string text = runtime::stand_still_text(snapshot, two_ops(), 6 * kSecond);
  EXPECT_THAT(text, HasSubstr("Calls of map (op 1) have all CPU slots. If they wait, for each other or for what others "
                              "hold, say {.blocks = true} there"));
  EXPECT_THAT(text, Not(HasSubstr("parallelism")));
  snapshot.stages[1].on_pool = true;
  EXPECT_THAT(runtime::stand_still_text(snapshot, two_ops(), 6 * kSecond), Not(HasSubstr("blocks")))
      << "its calls have none";
}

// It waits for data, and nothing that could be said of functions would help.
TEST(StandStill, AdvisesNothingWhereOnlyTheSourceWaits) {
  const std::string text = runtime::stand_still_text(with_calls_under_way(0), two_ops(), 6 * kSecond);
  EXPECT_THAT(text, ::testing::EndsWith("map (op 1, train.cc:12): waits for the next stage to make room"));
}

TEST(StandStill, NamesMemoryAndCpuPermits) {
  Snapshot snapshot = waiting(9 * kSecond, 7);
  snapshot.stages[0].waits_for_memory = true;
  snapshot.stages[1].waits_for_cpu_slot = true;
  const std::string text = runtime::stand_still_text(snapshot, two_ops(), 6 * kSecond);
  EXPECT_THAT(text, HasSubstr("range (op 0): waits for memory"));
  EXPECT_THAT(text, HasSubstr("train.cc:12): waits for a CPU slot"));
}

// explain() tells it while it lasts, and no longer.
TEST(StandStill, IsExplained) {
  std::atomic<bool> open{false};
  auto run = range(10).map([&](std::int64_t value) { return eventually([&] { return open.load(); }), value; }).start();
  std::jthread consumer([&] {
    while (run.next()) {
    }
  });
  EXPECT_TRUE(eventually([&] { return !run.explain().stand_still.empty(); }));
  EXPECT_THAT(to_text(run.explain()), HasSubstr("nothing that the consumer waits for has moved for"));
  EXPECT_THAT(to_text(run.explain()), HasSubstr("under way, the oldest for"));
  open = true;
  consumer.join();
}

}  // namespace
}  // namespace penstock
