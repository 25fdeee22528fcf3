// What the pipeline as a whole is doing.
#include "autotune/traffic.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/autotune/hand_made.h"

namespace penstock::autotune {
namespace {

// Two seconds of ticks; `step` moves the counters of one of 10 ms.
Traffic after_two_seconds(Snapshot& now, const std::function<void(Snapshot&)>& step, const std::vector<double>& cpu_s) {
  TrafficMeter meter;
  Traffic traffic;
  for (int i = 0; i < 200; ++i) {
    now.time_ns += 10 * kMs;
    step(now);
    meter.read(now, cpu_s, traffic);
  }
  return traffic;
}

TEST(TrafficMeter, TellsWhatTheConsumerWouldTakeIfItNeverWaited) {
  Snapshot now;
  const Traffic traffic = after_two_seconds(now,
                                            [](Snapshot& s) {
                                              s.consumer.taken += 2;          // 200/s
                                              s.consumer.wait_ns += 5 * kMs;  // half of the time
                                            },
                                            {});
  EXPECT_NEAR(traffic.wait_share, 0.5, 0.01);
  EXPECT_NEAR(traffic.delivered, 200, 2);
  EXPECT_NEAR(traffic.demand, 400, 10);
}

TEST(TrafficMeter, DoesNotKnowTheDemandOfOneThatAlwaysWaits) {
  Snapshot now;
  const Traffic traffic = after_two_seconds(now,
                                            [](Snapshot& s) {
                                              s.consumer.taken += 2;
                                              s.consumer.wait_ns += 10 * kMs;
                                            },
                                            {});
  EXPECT_EQ(traffic.demand, kUnbounded);
  EXPECT_TRUE(traffic.consumer_waits());
}

TEST(TrafficMeter, ForgetsTheDemandOfAConsumerThatWaitsForAllItGets) {
  Snapshot now;
  TrafficMeter meter;
  Traffic traffic;
  const auto take = [&](std::int64_t waited) {
    for (int i = 0; i < 200; ++i) {
      now.time_ns += 10 * kMs;
      now.consumer.taken += 2;
      now.consumer.wait_ns += waited;
      meter.read(now, {}, traffic);
    }
  };
  take(5 * kMs);
  ASSERT_NEAR(traffic.demand, 400, 10);
  take(10 * kMs);
  EXPECT_EQ(traffic.demand, kUnbounded);
}

TEST(TrafficMeter, ForgetsTheCpuTimeOfForeignThreadsThatHaveEnded) {
  Snapshot now;
  now.process_cpu_ns = now.workers_cpu_ns = now.consumer_cpu_ns = 0;
  TrafficMeter meter;
  Traffic traffic;
  const auto run = [&](std::int64_t foreign, int ticks) {
    for (int i = 0; i < ticks; ++i) {
      now.time_ns += 10 * kMs;
      ++now.consumer.taken;
      now.process_cpu_ns += foreign;
      meter.read(now, {}, traffic);
    }
  };
  run(10 * kMs, 500);
  ASSERT_NEAR(traffic.unattributed_cpu_s, 0.01, 0.001) << "a core, for 100 elements/s";
  run(0, 500);
  EXPECT_EQ(traffic.unattributed_cpu_s, 0);
}

// Ticks of a consumer that takes one element every `steps` ticks and never waits.
void take_one_every(int steps, int times, Snapshot& now, const std::function<void()>& look) {
  for (int i = 0; i < times * steps; ++i) {
    now.time_ns += 10 * kMs;
    if (i % steps == 0) ++now.consumer.taken;
    look();
  }
}

TEST(TrafficMeter, DoesNotTakeLongStepsForPauses) {
  TrafficMeter meter;
  Snapshot now;
  Traffic traffic;
  take_one_every(200, 60, now, [&] { meter.read(now, {}, traffic); });  // 0.5/s
  EXPECT_LT(traffic.delivered, 1);
  EXPECT_FALSE(traffic.idle);
}

TEST(TrafficMeter, RemembersTheRateOfBeforeAPause) {
  TrafficMeter meter;
  Snapshot now;
  Traffic traffic;
  const auto look = [&] { meter.read(now, {}, traffic); };
  for (int epoch = 0; epoch < 3; ++epoch) {
    take_one_every(2, 500, now, look);  // 50/s
    EXPECT_FALSE(traffic.idle);
    for (int i = 0; i < 1'000; ++i) now.time_ns += 10 * kMs, look();
    EXPECT_TRUE(traffic.idle);
    take_one_every(2, 1, now, look);
    EXPECT_FALSE(traffic.idle);
    EXPECT_NEAR(traffic.delivered, 50, 15);
  }
}

TEST(TrafficMeter, HoldsWhatTheConsumerWantsWhileItAsksForNothing) {
  TrafficMeter meter;
  Snapshot now;
  Traffic traffic;
  const auto look = [&](std::int64_t taken, std::int64_t wait_ns) {
    now.time_ns += 10 * kMs;
    now.consumer.taken += taken;
    now.consumer.wait_ns += wait_ns;
    meter.read(now, {}, traffic);
  };
  for (int i = 0; i < 200; ++i) look(2, 5 * kMs);
  for (int i = 0; i < 30; ++i) look(0, 0);
  EXPECT_TRUE(traffic.idle);
  EXPECT_NEAR(traffic.delivered, 200, 2);
  EXPECT_NEAR(traffic.wait_share, 0.5, 0.01);
  EXPECT_NEAR(traffic.demand, 400, 10);
  look(2, 5 * kMs);
  EXPECT_FALSE(traffic.idle);
  EXPECT_NEAR(traffic.demand, 400, 10);
}

TEST(TrafficMeter, DoesNotForgetWhatIsUsualWhileTheConsumerWaits) {
  TrafficMeter meter;
  Snapshot now;
  Traffic traffic;
  int idle = 0;
  for (int i = 0; i < 20 * 120; ++i) {  // takes ten elements, pauses for 190 ms, waits for a second
    const int tick = i % 120;
    now.time_ns += 10 * kMs;
    if (tick == 0) now.consumer.taken += 10;
    if (tick >= 20) now.consumer.wait_ns += 10 * kMs;
    meter.read(now, {}, traffic);
    if (i >= 120) idle += traffic.idle;
  }
  EXPECT_EQ(idle, 0);
}

TEST(TrafficMeter, CountsVisitsFromTheConsumerBackwards) {
  Snapshot now;
  now.stages.resize(3);  // shard, unbatch into 16, batch of 4
  for (int i = 0; i < 3; ++i) now.stages[static_cast<std::size_t>(i)].feeds = i < 2 ? i + 1 : -1;
  const Traffic traffic = after_two_seconds(now,
                                            [](Snapshot& s) {
                                              s.stages[0].completed += 1, s.stages[0].made += 1;
                                              s.stages[1].completed += 1, s.stages[1].made += 16;
                                              s.stages[2].completed += 16, s.stages[2].made += 4;
                                            },
                                            {0, 0, 0});
  EXPECT_NEAR(traffic.visits[2], 4, 1e-9);
  EXPECT_NEAR(traffic.visits[1], 0.25, 1e-9);
  EXPECT_NEAR(traffic.visits[0], 0.25, 1e-9);
}

// Two branches that a third stage joins.
Snapshot two_branches() {
  Snapshot now;
  now.stages.resize(3);
  now.stages[0].feeds = now.stages[1].feeds = 2;
  return now;
}

// Stage `i` takes so many elements, makes a result of each, and all of these go on.
void pass(Snapshot& now, std::size_t i, int elements) {
  now.stages[i].completed += elements;
  now.stages[i].made += elements;
  now.stages[i].elements_out += elements;
}

// Of each stage, where in each tick so many elements pass.
std::vector<double> visits_where(int first, int second, int merged) {
  Snapshot now = two_branches();
  const auto step = [=](Snapshot& s) { pass(s, 0, first), pass(s, 1, second), pass(s, 2, merged); };
  return after_two_seconds(now, step, {0, 0, 0}).visits;
}

TEST(TrafficMeter, CountsOfEachBranchWhatItGivesToTheMixture) {
  const auto visits = visits_where(9, 1, 10);
  EXPECT_NEAR(visits[2], 1, 1e-9);
  EXPECT_NEAR(visits[0], 0.9, 1e-9);
  EXPECT_NEAR(visits[1], 0.1, 1e-9);
}

TEST(TrafficMeter, CountsAllOfEachBranchWhereTheyAreZipped) {
  const auto visits = visits_where(1, 1, 1);
  EXPECT_NEAR(visits[0], 1, 1e-9);
  EXPECT_NEAR(visits[1], 1, 1e-9);
}

TEST(TrafficMeter, KeepsNothingForABranchThatGivesNothing) { EXPECT_LT(visits_where(10, 0, 10)[1], 0.01); }

TEST(TrafficMeter, CountsNoMoreThanAllOfABranchThatReadsAhead) { EXPECT_EQ(visits_where(1000, 0, 1)[0], 1); }

TEST(TrafficMeter, SeesWithinSecondsThatTheNextBranchIsWanted) {
  TrafficMeter meter;
  Snapshot now = two_branches();
  now.stages.resize(4);  // a batch of 500 behind them: of few elements delivered, too
  now.stages[2].feeds = 3;
  Traffic traffic;
  constexpr int kTurn = 57 * 100;
  for (int tick = 0; tick < kTurn + 3 * 100; ++tick) {  // one after the other: the second is a little ahead
    now.time_ns += 10 * kMs;
    const bool first = tick < kTurn;
    pass(now, first ? 0 : 1, 10), pass(now, 2, 10);
    now.stages[3].completed += 10;
    if (tick == 0) pass(now, 1, 20);
    if (tick % 50 == 49) ++now.stages[3].made, ++now.consumer.taken;
    meter.read(now, {0, 0, 0, 0}, traffic);
    if (tick == kTurn - 1) {
      EXPECT_LT(traffic.visits[1] / traffic.visits[2], 0.01);
    }
  }
  EXPECT_GT(traffic.visits[1] / traffic.visits[2], 0.9);
}

TEST(TrafficMeter, LeavesTheConsumersOwnCpuTimeOutOfWhatStagesMayUse) {
  Snapshot now;
  now.cpu_budget = 2;
  now.consumer.cpu_ns = 0;
  const Traffic traffic = after_two_seconds(now, [](Snapshot& s) { s.consumer.cpu_ns += 5 * kMs; }, {});
  EXPECT_NEAR(traffic.cpus, 1.5, 0.05);
}

TEST(TrafficMeter, IsCpuBoundWhereAllPermitsAreTaken) {
  Snapshot now;
  now.cpu_budget = 2;
  now.stages.resize(1);
  now.stages[0].running = 2;
  EXPECT_TRUE(after_two_seconds(now, [](Snapshot&) {}, {0}).cpu_bound());
  Snapshot half;
  half.cpu_budget = 2;
  half.stages.resize(1);
  half.stages[0].running = 1;
  EXPECT_FALSE(after_two_seconds(half, [](Snapshot&) {}, {0}).cpu_bound());
}

TEST(TrafficMeter, CountsTheCpuTimeOfCallsOnThePool) {
  Snapshot now;
  now.cpu_budget = 2;
  now.stages.resize(1);
  now.stages[0].on_pool = true;
  // 1,000/s of 1 ms
  const Traffic traffic = after_two_seconds(now, [](Snapshot& s) { s.stages[0].completed += 10; }, {0.001});
  EXPECT_NEAR(traffic.cpu_share, 0.5, 0.01);
}

}  // namespace
}  // namespace penstock::autotune
