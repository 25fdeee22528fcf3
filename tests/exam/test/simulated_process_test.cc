// The engine in virtual time against closed forms.
#include "tests/exam/simulated_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "tests/exam/test/worlds.h"

namespace penstock::exam {
namespace {

TEST(SimulatedProcess, CallsThatWaitGiveTheirNumberByTheirTime) {
  for (const std::int64_t calls : {1, 4, 16, 50}) {
    SimulatedProcess process(process_of({waiting(10)}), 1);
    process.run(0).knob("parallelism", 1).set(calls);
    const double expected = static_cast<double>(calls) * 100;
    EXPECT_NEAR(rate_of(process, 4), expected, 0.02 * expected) << calls;
  }
}

TEST(SimulatedProcess, CallsThatComputeGiveTheCoresByTheirTime) {
  for (const double cores : {1.0, 2.0, 8.0}) {
    ProcessSpec spec = process_of({computing(4)});
    spec.host.cores = cores;
    SimulatedProcess process(spec, 1);
    EXPECT_NEAR(rate_of(process, 4), 250 * cores, 0.01 * 250 * cores) << cores;
  }
}

TEST(SimulatedProcess, PermitsOfTheArenaBoundTheCallsThatCompute) {
  SimulatedProcess process(process_of({computing(4)}), 1);
  process.run(0).knob("parallelism", 1).set(20);
  process.run(0).knob("cpu_slots").set(1);
  EXPECT_NEAR(rate_of(process, 4), 250, 3);
}

TEST(SimulatedProcess, CallThatWaitsInTheArenaHoldsItsPermit) {
  StageSpec stage = waiting(10);
  stage.form = StageSpec::Form::unknown;
  SimulatedProcess process(process_of({stage}), 1);
  process.run(0).knob("parallelism", 1).set(20);
  EXPECT_NEAR(rate_of(process, 4), 200, 3) << "two permits";
  process.run(0).knob("placement", 1).set(1);
  const auto before = process.run(0).taken();
  process.run_until(9 * kSecond);
  EXPECT_NEAR(static_cast<double>(process.run(0).taken() - before), 4 * 2'000, 4 * 40) << "20 threads";
}

TEST(SimulatedProcess, OpenIoBoundsTheThreadsOfThePool) {
  SimulatedProcess process(process_of({waiting(100)}), 1);
  process.run(0).knob("parallelism", 1).set(1'000);
  process.run_until(2 * kSecond);
  EXPECT_EQ(process.run(0).snapshot().stages[1].running, 256) << "as many as the process has at most";
}

TEST(SimulatedProcess, SlowestStageGivesTheRate) {
  SimulatedProcess process(process_of({waiting(10), computing(1)}), 1);
  process.run(0).knob("parallelism", 1).set(5);
  EXPECT_NEAR(rate_of(process, 4), 500, 10);
  process.run(0).knob("parallelism", 1).set(64);
  process.run_until(6 * kSecond);
  const auto before = process.run(0).taken();
  process.run_until(10 * kSecond);
  EXPECT_NEAR(static_cast<double>(process.run(0).taken() - before) / 4, 2'000, 60) << "but for what the engine costs";
}

TEST(SimulatedProcess, ConsumerGivesTheRateWhereItIsSlower) {
  ProcessSpec spec = process_of({computing(1)});
  spec.chains[0].consumer[0] = {.cpu = 5 * kMs, .idle = 5 * kMs};
  SimulatedProcess process(spec, 1);
  EXPECT_NEAR(rate_of(process, 4), 100, 1);
}

// One call of 1 s in 100 holds up what comes after it, as far as the window goes.
TEST(SimulatedProcess, OrderedResultsWaitForTheOldestOne) {
  StageSpec stage = waiting(1);
  stage.blocked = Distribution::two_points(1 * kMs, 1'000 * kMs, 0.01);
  const auto rate = [&](bool ordered, std::int64_t window) {
    stage.ordered = ordered;
    SimulatedProcess process(process_of({stage}), 1);
    process.run(0).knob("parallelism", 1).set(32);
    process.run(0).knob("window", 1).set(window);
    return rate_of(process, 30);
  };
  const double free = rate(false, 32);
  EXPECT_NEAR(free, 32 / 0.01099, 0.25 * free) << "32 calls of 11 ms on average";
  EXPECT_LT(rate(true, 32), 0.2 * free) << "no more than 32 elements get past a slow one";
  EXPECT_GT(rate(true, 4'000), 0.5 * free);
}

TEST(SimulatedProcess, FanOutAndBatchesKeepAllElements) {
  StageSpec shards = waiting(10);
  shards.fan_out = Distribution::geometric(16);
  StageSpec batch = computing(0);
  batch.serial = true;
  batch.batch = 8;
  ProcessSpec spec = process_of({shards, computing(0.05), batch});
  SimulatedProcess process(spec, 1);
  process.run_until(20 * kSecond);
  const Snapshot& end = process.run(0).snapshot();
  EXPECT_NEAR(static_cast<double>(end.stages[1].elements_out) / static_cast<double>(end.stages[1].completed), 16, 1);
  EXPECT_EQ(end.stages[2].elements_in, end.stages[1].elements_out);
  EXPECT_EQ(end.stages[2].elements_out, end.stages[3].elements_in);
  EXPECT_EQ(end.stages[3].completed / 8, end.stages[3].elements_out);
  EXPECT_GT(end.consumer.taken, 0);
}

TEST(SimulatedProcess, TwoRunsShareThePermits) {
  ProcessSpec spec = process_of({computing(2)});
  spec.chains.push_back(spec.chains.front());
  SimulatedProcess process(spec, 1);
  const double first = rate_of(process, 4, 0);
  EXPECT_NEAR(first, 500, 25);
  EXPECT_NEAR(static_cast<double>(process.run(1).taken()) / 5, 500, 25);
}

TEST(SimulatedProcess, LargeElementsNeverPassTheBoundOfTheMemory) {
  for (std::uint64_t seed = 1; seed <= 30; seed += 3) {
    StageSpec read = waiting(5);
    read.size = Distribution::two_points(1, 100, 0.02);
    ProcessSpec spec = process_of({read, computing(0.5), computing(1)});
    spec.chains[0].memory = 2'000'000 * static_cast<std::int64_t>(seed);
    SimulatedProcess process(spec, seed);
    process.run(0).knob("parallelism", 1).set(32);
    process.run(0).knob("prefetch").set(64);
    process.run_until(10 * kSecond);
    EXPECT_LE(process.run(0).snapshot().memory_peak, process.run(0).record().memory_bound) << seed;
    EXPECT_GT(process.run(0).taken(), 100) << seed;
    EXPECT_GT(process.run(0).samples().back().taken, process.run(0).samples()[500].taken)
        << "no deadlock; seed " << seed;
  }
}

// A batch holds what the consumer waits for, and what is missing needs memory: whoever waits for that must be told that
// all behind is empty.
TEST(SimulatedProcess, GoesOnWhereABatchHoldsAllTheMemory) {
  StageSpec batch = computing(0.01);
  batch.serial = true;
  batch.batch = 8;
  ProcessSpec spec = process_of({waiting(5), computing(1), waiting(3), batch});
  for (StageSpec& stage : spec.chains[0].stages) stage.result_bytes = 1'000'000;
  spec.chains[0].memory = 6'000'000;
  SimulatedProcess process(spec, 1);
  process.run_until(20 * kSecond);
  EXPECT_GT(process.run(0).samples().back().taken, process.run(0).samples()[500].taken);
}

// Upstream, results are made faster than they are used: all memory would be theirs, and the calls that were added found
// none.
TEST(SimulatedProcess, StageDownstreamGetsFreedMemoryFirst) {
  StageSpec upstream = computing(0.5);
  StageSpec downstream = waiting(8);
  upstream.cpu = Distribution::lognormal(0.5 * kMs, 1);
  downstream.blocked = Distribution::lognormal(8 * kMs, 0.6);
  downstream.ordered = false;
  ProcessSpec spec = process_of({upstream, downstream});
  spec.host.cores = 8;
  spec.chains[0].memory = 4'100'000;  // 41 elements
  SimulatedProcess process(spec, 1);
  process.run_until(kSecond / 2);
  process.run(0).knob("parallelism", 2).set(20);
  EXPECT_GT(rate_of(process, 4), 8 / 0.008);  // of eight of them; without the rule it stays at two
}

auto history(std::uint64_t seed) {
  ProcessSpec spec = process_of({waiting(10), computing(1)});
  for (StageSpec& stage : spec.chains[0].stages) stage.blocked = Distribution::lognormal(3 * kMs, 0.5);
  SimulatedProcess process(spec, seed);
  process.run(0).steer(autotune::default_policy());
  process.run_until(3 * kSecond);
  std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, double>> history;
  for (const Sample& each : process.run(0).samples())
    history.emplace_back(each.taken, each.bytes, each.changes, each.cpu_ns);
  return history;
}

TEST(SimulatedProcess, SameSeedGivesTheSameRun) {
  EXPECT_EQ(history(5), history(5));
  EXPECT_NE(history(5), history(6));
}

// Moves a knob at its looks before `until` only.
class Mover final : public autotune::Policy {
 public:
  Mover(std::int64_t until, std::vector<std::int64_t>& looks) : until_(until), looks_(looks) {}
  void tick(const Snapshot& now, std::vector<Knob>& knobs) override {
    looks_.push_back(now.time_ns);
    Knob& knob = knobs.front();
    if (now.time_ns < until_) move(knob, knob.get() == knob.low ? knob.low + 1 : knob.low, Reason::reordering, now);
  }

 private:
  const std::int64_t until_;
  std::vector<std::int64_t>& looks_;
};

TEST(SimulatedProcess, IsLookedAtHalfAsOftenWhereNothingMoves) {
  SimulatedProcess process(process_of({waiting(10), computing(1)}), 1);
  std::vector<std::int64_t> looks;
  process.run(0).steer(std::make_unique<Mover>(kSecond, looks));
  process.run_until(5 * kSecond);
  const auto between = [&](Time from, Time to) {
    return static_cast<double>(std::ranges::count_if(looks, [=](Time at) { return at > from && at <= to; }));
  };
  EXPECT_NEAR(between(0, kSecond), 100, 1) << "a look takes a while";
  EXPECT_NEAR(between(2 * kSecond, 2 * kSecond + kSecond / 2), 50, 1);
  EXPECT_NEAR(between(4 * kSecond, 5 * kSecond), 50, 1);
  EXPECT_EQ(process.run(0).samples().size(), 500u) << "what is seen of it for the grade goes on";
}

TEST(SimulatedProcess, KnobsAreThoseOfTheEngine) {
  SimulatedProcess process(process_of({waiting(10), computing(1)}), 1);
  SimulatedRun& chain = process.run(0);
  EXPECT_EQ(chain.knob("parallelism", 1).get(), 4);
  EXPECT_EQ(chain.knob("parallelism", 2).get(), 2);
  EXPECT_EQ(chain.knob("window", 1).get(), 8);
  EXPECT_EQ(chain.knob("buffer", 2).get(), 2);
  EXPECT_EQ(chain.knob("prefetch").get(), 2);
  EXPECT_EQ(chain.knob("placement", 1).get(), 1);
  EXPECT_TRUE(chain.knob("placement", 1).user_fixed);
  chain.knob("parallelism", 1).set(0);
  EXPECT_EQ(chain.knob("parallelism", 1).get(), 1) << "values outside are brought inside";
  EXPECT_THROW(chain.knob("no such"), std::invalid_argument);
}

}  // namespace
}  // namespace penstock::exam
