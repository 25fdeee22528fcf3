// When workers have a lower priority, or fewer CPU permits, for the sake of a consumer that computes.
#include "autotune/give_way.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "autotune/policy.h"

#include "tests/autotune/hand_made.h"

namespace penstock::autotune {
namespace {

// A run with 16 permits, whose consumer takes 100 elements/s of 20 ms of CPU time each: 2.3 cores with headroom.
class Workers {
 public:
  Workers() {
    now_.consumer.delay_ns = 0;
    traffic_.all_known = true;
    traffic_.demand = 100;
    traffic_.work_s = 0.02;
    traffic_.wait_share = 0;
  }

  // The consumer is ready to run and has no core for `delayed` of the time.
  void run_for(std::int64_t seconds, double delayed) {
    for (std::int64_t i = 0; i < 50 * seconds; ++i) {
      now_.time_ns += 20 * kMs;
      now_.consumer.delay_ns += static_cast<std::int64_t>(delayed * 20 * kMs);
      const auto wish = give_way_.permits(now_, traffic_, {permits_, 16, last_resort_});
      if (wish) permits_ = wish->to;
      if (wish) reason_ = wish->reason;
    }
  }
  void let_it_wait(double share) { traffic_.wait_share = share; }
  void raise_the_priority() { last_resort_ = false; }
  void hide_the_delay() { now_.consumer.delay_ns = -1; }

  std::int64_t permits() const { return permits_; }
  std::optional<Reason> reason() const { return reason_; }

 private:
  GiveWay give_way_;
  Snapshot now_;
  Traffic traffic_;
  std::int64_t permits_ = 16;
  bool last_resort_ = true;
  std::optional<Reason> reason_;
};

TEST(GiveWay, TakesPermitsFromWorkersThatDelayTheConsumer) {
  Workers workers;
  workers.run_for(3, 0.1);
  EXPECT_LT(workers.permits(), 14);
  EXPECT_EQ(workers.reason(), Reason::consumer_slowed);
}

TEST(GiveWay, LeavesWhatTheConsumerTakes) {
  Workers workers;
  workers.run_for(60, 0.1);
  EXPECT_EQ(workers.permits(), 3);
}

TEST(GiveWay, TakesNoneWhereTheConsumerIsNotDelayed) {
  Workers workers;
  workers.run_for(10, 0.02);
  EXPECT_EQ(workers.permits(), 16);
}

TEST(GiveWay, TakesNoneWhereTheSystemDoesNotTell) {
  Workers workers;
  workers.hide_the_delay();
  workers.run_for(10, 0);
  EXPECT_EQ(workers.permits(), 16);
}

TEST(GiveWay, ReturnsAllPermitsToWorkersThatTheConsumerWaitsFor) {
  Workers workers;
  workers.run_for(20, 0.1);
  workers.let_it_wait(0.1);
  workers.run_for(1, 0.1);
  EXPECT_EQ(workers.permits(), 16);
  EXPECT_EQ(workers.reason(), Reason::starved_consumer);
}

TEST(GiveWay, LeavesThePermitsWhereThePriorityCanStillFall) {
  Workers workers;
  workers.raise_the_priority();
  workers.run_for(10, 0.1);
  EXPECT_EQ(workers.permits(), 16);
}

TEST(GiveWay, ReturnsPermitsAlsoAfterThePriority) {
  Workers workers;
  workers.run_for(20, 0.1);
  workers.raise_the_priority();
  workers.let_it_wait(0.1);
  workers.run_for(1, 0);
  EXPECT_EQ(workers.permits(), 16);
}

TEST(GiveWay, DoesNotReturnToWhatTheConsumerHasStarvedWith) {
  Workers workers;
  workers.run_for(3, 0.1);
  const std::int64_t too_few = workers.permits();
  workers.let_it_wait(0.1);
  workers.run_for(1, 0.1);
  workers.let_it_wait(0);
  workers.run_for(60, 0.1);
  EXPECT_EQ(workers.permits(), too_few + 1);
}

TEST(GiveWay, TriesAgainLessAndLessOften) {
  Workers workers;
  int times = 0;
  for (int i = 0; i < 60; ++i) {
    workers.let_it_wait(0);
    workers.run_for(2, 0.1);
    times += workers.permits() < 16;
    workers.let_it_wait(0.1);
    workers.run_for(1, 0.1);
  }
  EXPECT_LE(times, 8);
  EXPECT_GE(times, 3);
}

// A consumer that computes, for so many cores, and is served.
class Computing {
 public:
  Computing() {
    now_.cpu_budget = 2;
    now_.consumer.cpu_ns = 0;
    add(KnobKind::priority, 0, 1, gives_way_);
    add(KnobKind::cpu_slots, 1, 16, permits_);
  }
  void run(double cores, double seconds) {
    for (int i = 0; i < 100 * seconds; ++i) {
      now_.time_ns += 10'000'000;
      now_.consumer.cpu_ns += static_cast<std::int64_t>(cores * 1e7);
      if (delayed_ > 0)
        now_.consumer.delay_ns = static_cast<std::int64_t>(delayed_ * static_cast<double>(now_.time_ns));
      ++now_.consumer.taken;
      policy_->tick(now_, knobs_);
    }
  }
  void keep_from_a_core(double share) { delayed_ = share; }
  bool gives_way() const { return gives_way_ > 0; }
  std::int64_t permits() const { return permits_; }
  std::int64_t moves() const { return policy_->log().count(); }

 private:
  void add(KnobKind kind, std::int64_t low, std::int64_t high, std::int64_t& stands) {
    Knob knob;
    knob.kind = kind;
    knob.low = low;
    knob.high = high;
    knob.get = [&stands] { return stands; };
    knob.set = [&stands](std::int64_t to) { stands = to; };
    knobs_.push_back(knob);
  }

  std::unique_ptr<Policy> policy_ = make_policy("penstock");
  Snapshot now_;
  std::vector<Knob> knobs_;
  std::int64_t gives_way_ = 0, permits_ = 16;
  double delayed_ = 0;
};

TEST(PenstockPolicy, GivesWayToAConsumerThatComputesUntilItDoesNot) {
  Computing consumer;
  consumer.run(0.5, 3);
  EXPECT_TRUE(consumer.gives_way());
  consumer.run(0, 5);
  EXPECT_FALSE(consumer.gives_way());
}

TEST(PenstockPolicy, TakesPermitsWhereALowerPriorityIsNotEnough) {
  Computing consumer;
  consumer.keep_from_a_core(0.1);
  consumer.run(0.5, 5);
  EXPECT_TRUE(consumer.gives_way());
  EXPECT_LT(consumer.permits(), 16);
}

TEST(PenstockPolicy, DoesNotChangeItsMindAboutAConsumerThatComputesALittle) {
  Computing consumer;
  for (int i = 0; i < 20; ++i) {
    consumer.run(0.045, 2);
    consumer.run(0.055, 2);
  }
  EXPECT_LE(consumer.moves(), 1);
}

TEST(PenstockPolicy, MovesThePriorityOnceASecondAtMost) {
  Computing consumer;
  for (int i = 0; i < 40; ++i) {  // 20 s
    consumer.run(1, 0.25);
    consumer.run(0, 0.25);
  }
  EXPECT_LE(consumer.moves(), 21);
}

}  // namespace
}  // namespace penstock::autotune
