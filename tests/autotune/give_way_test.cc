// When workers have fewer CPU slots, for the sake of a consumer that computes.
#include "autotune/give_way.h"

#include <gtest/gtest.h>

#include <optional>

namespace penstock::autotune {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// A run with 16 slots, whose consumer takes 100 elements/s of 20 ms of CPU time each: 2.3 cores with headroom.
class Workers {
 public:
  Workers() {
    now_.consumer.delay_ns = 0;
    flow_.all_known = true;
    flow_.demand = 100;
    flow_.work_s = 0.02;
    flow_.wait_share = 0;
  }

  // The consumer is ready to run and has no core for `delayed` of the time.
  void run_for(std::int64_t seconds, double delayed) {
    for (std::int64_t i = 0; i < 50 * seconds; ++i) {
      now_.time_ns += 20 * kMs;
      now_.consumer.delay_ns += static_cast<std::int64_t>(delayed * 20 * kMs);
      const auto wish = give_way_.slots(now_, flow_, {slots_, 16, last_resort_});
      if (wish) slots_ = wish->to;
      if (wish) reason_ = wish->reason;
    }
  }
  void let_it_wait(double share) { flow_.wait_share = share; }
  void raise_the_priority() { last_resort_ = false; }
  void hide_the_delay() { now_.consumer.delay_ns = -1; }

  std::int64_t slots() const { return slots_; }
  std::optional<Reason> reason() const { return reason_; }

 private:
  GiveWay give_way_;
  Snapshot now_;
  Flow flow_;
  std::int64_t slots_ = 16;
  bool last_resort_ = true;
  std::optional<Reason> reason_;
};

TEST(GiveWay, TakesSlotsFromWorkersThatDelayTheConsumer) {
  Workers workers;
  workers.run_for(3, 0.1);
  EXPECT_LT(workers.slots(), 14);
  EXPECT_EQ(workers.reason(), Reason::consumer_slowed);
}

TEST(GiveWay, LeavesWhatTheConsumerTakes) {
  Workers workers;
  workers.run_for(60, 0.1);
  EXPECT_EQ(workers.slots(), 3);
}

TEST(GiveWay, TakesNoneWhereTheConsumerIsNotDelayed) {
  Workers workers;
  workers.run_for(10, 0.02);
  EXPECT_EQ(workers.slots(), 16);
}

TEST(GiveWay, TakesNoneWhereTheSystemDoesNotTell) {
  Workers workers;
  workers.hide_the_delay();
  workers.run_for(10, 0);
  EXPECT_EQ(workers.slots(), 16);
}

TEST(GiveWay, ReturnsAllSlotsToWorkersThatTheConsumerWaitsFor) {
  Workers workers;
  workers.run_for(20, 0.1);
  workers.let_it_wait(0.1);
  workers.run_for(1, 0.1);
  EXPECT_EQ(workers.slots(), 16);
  EXPECT_EQ(workers.reason(), Reason::starved_consumer);
}

TEST(GiveWay, LeavesTheSlotsWhereThePriorityCanStillFall) {
  Workers workers;
  workers.raise_the_priority();
  workers.run_for(10, 0.1);
  EXPECT_EQ(workers.slots(), 16);
}

TEST(GiveWay, ReturnsSlotsAlsoAfterThePriority) {
  Workers workers;
  workers.run_for(20, 0.1);
  workers.raise_the_priority();
  workers.let_it_wait(0.1);
  workers.run_for(1, 0);
  EXPECT_EQ(workers.slots(), 16);
}

TEST(GiveWay, DoesNotReturnToWhatTheConsumerHasStarvedWith) {
  Workers workers;
  workers.run_for(3, 0.1);
  const std::int64_t too_few = workers.slots();
  workers.let_it_wait(0.1);
  workers.run_for(1, 0.1);
  workers.let_it_wait(0);
  workers.run_for(60, 0.1);
  EXPECT_EQ(workers.slots(), too_few + 1);
}

TEST(GiveWay, TriesAgainLessAndLessOften) {
  Workers workers;
  int times = 0;
  for (int i = 0; i < 60; ++i) {
    workers.let_it_wait(0);
    workers.run_for(2, 0.1);
    times += workers.slots() < 16;
    workers.let_it_wait(0.1);
    workers.run_for(1, 0.1);
  }
  EXPECT_LE(times, 8);
  EXPECT_GE(times, 3);
}

}  // namespace
}  // namespace penstock::autotune
