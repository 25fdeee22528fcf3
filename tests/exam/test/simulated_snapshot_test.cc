// What a policy sees is true of what happens in virtual time.
#include <gtest/gtest.h>

#include <numeric>

#include <penstock/service_times.h>

#include "autotune/model.h"
#include "tests/exam/test/worlds.h"

namespace penstock::exam {
namespace {

struct Window {
  Snapshot before, after;
};

Window window_of(SimulatedProcess& process, Time from, Time to) {
  Window window;
  process.run_until(from);
  window.before = process.run(0).snapshot();
  process.run_until(to);
  window.after = process.run(0).snapshot();
  return window;
}

TEST(SimulatedSnapshot, CallTimeFollowsLittlesLaw) {
  SimulatedProcess process(process_of({waiting(10), computing(0.1)}), 1);
  process.run(0).knob("parallelism", 1).set(20);
  const auto [before, after] = window_of(process, kSecond, 5 * kSecond);
  const auto rates = autotune::rates_between(before, after);
  const auto& io = rates.stages[1];
  EXPECT_NEAR(io.call_s, 0.010, 0.0001);
  EXPECT_NEAR(io.in_flight, io.rate * io.call_s, 1e-6);
  EXPECT_NEAR(io.in_flight, 20, 0.5);
  EXPECT_NEAR(io.waiting_s, 0.010, 0.0001);
  EXPECT_LT(io.cpu_s, 0.00001);
  EXPECT_NEAR(rates.stages[2].cpu_s, 0.0001, 0.00001);
  EXPECT_NEAR(io.bytes, 100'000 + sizeof(Slot), 1);
}

TEST(SimulatedSnapshot, UnfinishedCallsCountAsCallTime) {
  SimulatedProcess process(process_of({waiting(10'000)}), 1);
  process.run_until(2 * kSecond);
  const Snapshot& now = process.run(0).snapshot();
  EXPECT_EQ(now.stages[1].completed, 0);
  EXPECT_NEAR(static_cast<double>(now.stages[1].slot_ns), 4 * 2e9, 1e6);
  EXPECT_NEAR(static_cast<double>(now.stages[1].oldest_call_ns), 2e9, 1e6);
  EXPECT_NEAR(static_cast<double>(now.stages[1].median_call_ns), 2e9, 1e6);
}

TEST(SimulatedSnapshot, TimeWithoutACoreIsDelayAndNotCpuTime) {
  ProcessSpec spec = process_of({computing(4)});
  spec.host.foreign.steps = {{0, 2}};
  SimulatedProcess process(spec, 1);
  const auto [before, after] = window_of(process, kSecond, 5 * kSecond);
  const auto rates = autotune::rates_between(before, after);
  EXPECT_NEAR(rates.stages[1].cpu_s, 0.004, 0.00002);
  EXPECT_NEAR(rates.stages[1].delay_s, 0.004, 0.00004) << "two of four get a core";
}

TEST(SimulatedSnapshot, ConsumersTimeAddsUp) {
  ProcessSpec spec = process_of({waiting(10)});
  spec.chains[0].consumer[0] = {.cpu = 1 * kMs, .idle = 2 * kMs};
  SimulatedProcess process(spec, 1);
  process.run(0).knob("parallelism", 1).set(1);
  const auto [before, after] = window_of(process, kSecond, 5 * kSecond);
  const double taken = static_cast<double>(after.consumer.taken - before.consumer.taken);
  const double wait = static_cast<double>(after.consumer.wait_ns - before.consumer.wait_ns);
  EXPECT_NEAR(taken, 400, 4);
  EXPECT_NEAR(wait + taken * 3.001 * kMs, 4e9, 2e7);
  EXPECT_NEAR(static_cast<double>(after.consumer.cpu_ns - before.consumer.cpu_ns), taken * 1.012 * kMs, 2e6)
      << "with its waking up";
  EXPECT_GE(after.consumer.waits - before.consumer.waits, 399);
}

TEST(SimulatedSnapshot, FullTimeIsThatInWhichAsManyAreReadyAsMayBe) {
  ProcessSpec spec = process_of({computing(0.1)});
  spec.chains[0].consumer[0] = {.idle = 10 * kMs};
  SimulatedProcess process(spec, 1);
  const auto [before, after] = window_of(process, kSecond, 5 * kSecond);
  EXPECT_GT(after.consumer.full_ns - before.consumer.full_ns, 3'900'000'000);
}

TEST(SimulatedSnapshot, ThreadsOfUsersAreCpuOfTheProcessAndNotOfWorkers) {
  StageSpec nested = computing(0.1);
  nested.own_threads = 4;
  nested.own_cpu = Distribution::constant(1 * kMs);
  nested.form = StageSpec::Form::unknown;
  SimulatedProcess process(process_of({nested}), 1);
  const auto [before, after] = window_of(process, kSecond, 5 * kSecond);
  const double elements = static_cast<double>(after.stages[1].completed - before.stages[1].completed);
  const double others = static_cast<double>((after.process_cpu_ns - before.process_cpu_ns) -
                                            (after.workers_cpu_ns - before.workers_cpu_ns) -
                                            (after.consumer_cpu_ns - before.consumer_cpu_ns));
  EXPECT_NEAR(others / elements, 4 * kMs, 0.05 * kMs);
  EXPECT_GT(after.stages[1].sampled_waiting_ns, 0);
}

TEST(SimulatedSnapshot, BudgetFollowsTheQuotaWithinASecond) {
  ProcessSpec spec = process_of({computing(4)});
  spec.host.quota.steps = {{0, 2}, {2'500 * kMillisecond, 1}};
  SimulatedProcess process(spec, 1);
  process.run_until(2 * kSecond);
  EXPECT_EQ(process.run(0).snapshot().cpu_budget, 2);
  process.run_until(3'600 * kMillisecond);
  EXPECT_EQ(process.run(0).snapshot().cpu_budget, 1);
  EXPECT_EQ(process.run(0).snapshot().cpu_slots_in_use, 1);
}

TEST(SimulatedSnapshot, ServiceTimesCountEveryElement) {
  SimulatedProcess process(process_of({waiting(10)}), 1);
  process.run_until(5 * kSecond);
  const StageSnapshot stage = process.run(0).snapshot().stages[1];
  EXPECT_EQ(std::accumulate(stage.service_times.begin(), stage.service_times.end(), std::int64_t{0}), stage.completed);
  EXPECT_EQ(stage.service_times[service_time_bucket(10'010'000)], stage.completed);
}

TEST(SimulatedSnapshot, StarvedAndBlockedTimeAreToldApart) {
  SimulatedProcess starved(process_of({waiting(10), computing(0.1)}), 1);
  starved.run(0).knob("parallelism", 1).set(1);
  starved.run_until(4 * kSecond);
  EXPECT_GT(starved.run(0).snapshot().stages[2].starved_ns, 3'500'000'000);
  EXPECT_LT(starved.run(0).snapshot().stages[1].blocked_ns, 100'000'000);
  ProcessSpec spec = process_of({waiting(10), computing(0.1)});
  spec.chains[0].consumer[0] = {.idle = 50 * kMs};
  SimulatedProcess blocked(spec, 1);
  blocked.run_until(4 * kSecond);
  EXPECT_GT(blocked.run(0).snapshot().stages[1].blocked_ns, 3'000'000'000);
}

}  // namespace
}  // namespace penstock::exam
