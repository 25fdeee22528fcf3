// The exam itself: what it asks, and that its oracle's table is true.
#include "tests/exam/exam.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/exam/plot.h"
#include "tests/exam/test/worlds.h"

namespace penstock::exam {
namespace {

struct Phase {
  std::string name;
  ProcessSpec frozen;
};

bool is_full() { return std::getenv("PENSTOCK_FULL") != nullptr; }

std::vector<Phase> all_phases() {
  std::vector<Phase> all;
  for (const double times : {1.0, kOtherTimes}) {
    for (const Scenario& plain : all_scenarios()) {
      const Scenario scenario = scaled(plain, times, times == 1 ? 1 : kOtherSizes);
      for (const Time phase : phases(scenario)) all.push_back({scenario.id, frozen_at(scenario.process, phase)});
    }
  }
  return all;
}

TEST(OracleTable, HoldsEveryPhaseOfEveryScenario) {
  for (const Phase& phase : all_phases())
    EXPECT_TRUE(is_in_table(phase.frozen)) << phase.name << ": run penstock-scorecard --make-oracle";
}

// With other seeds than those that it was made with. Every fourth one; all where PENSTOCK_FULL is set.
TEST(OracleTable, EntriesGiveWhatTheySay) {
  const std::vector<Phase> all = all_phases();
  for (std::size_t i = 0; i < all.size(); i += is_full() ? 1 : 4) {
    const Optimum known = optimum_of(all[i].frozen);
    const double rate = measure(all[i].frozen, known.settings, 20 * kSecond, 3, 3'000'001).rate;
    EXPECT_NEAR(rate, known.rate, 0.03 * known.rate) << all[i].name;
  }
}

// One of them searched anew; all where PENSTOCK_FULL is set, for an hour.
TEST(OracleTable, EntriesAreNotBeatenByAnotherSearch) {
  const std::vector<Phase> all = all_phases();
  for (std::size_t i = 0; i < all.size(); i += is_full() ? 1 : all.size()) {
    EXPECT_LT(search(all[i].frozen).rate, 1.02 * optimum_of(all[i].frozen).rate) << all[i].name;
  }
}

TEST(OracleTable, ChangesWithEveryConstant) {
  const ProcessSpec plain = process_of({waiting(10), computing(1)});
  const auto differs = [&](auto&& change) {
    ProcessSpec other = plain;
    change(other);
    return hash_of(other) != hash_of(plain);
  };
  EXPECT_TRUE(differs([](ProcessSpec& process) { process.host.cores = 3; }));
  EXPECT_TRUE(differs([](ProcessSpec& process) { process.chains[0].memory /= 2; }));
  EXPECT_TRUE(differs(
      [](ProcessSpec& process) { process.chains[0].stages[0].blocked = Distribution::constant(10.0001 * kMs); }));
  EXPECT_TRUE(differs([](ProcessSpec& process) { process.chains[0].stages[1].ordered = false; }));
  EXPECT_TRUE(differs([](ProcessSpec& process) { process.chains[0].consumer[0].idle = 1; }));
  EXPECT_FALSE(differs([](ProcessSpec& process) { process.chains[0].stages[0].name = "another"; }));
}

TEST(Scenarios, AreTheTwentyOfTheDesignTwoTreesAndTwoNests) {
  std::vector<std::string> ids;
  for (const Scenario& scenario : all_scenarios()) {
    if (ids.empty() || ids.back() != scenario.id.substr(0, 3)) ids.push_back(scenario.id.substr(0, 3));
  }
  ASSERT_EQ(ids.size(), 24u);
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], (i < 9 ? "S0" : "S") + std::to_string(i + 1));
}

TEST(Scenarios, FrozenWorldIsThatOfThePhase) {
  for (const Scenario& scenario : all_scenarios()) {
    if (scenario.id != "S08") continue;
    EXPECT_EQ(phases(scenario), (std::vector<Time>{0, 40 * kSecond, 80 * kSecond}));
    SimulatedProcess process(frozen_at(scenario.process, 40 * kSecond), 1);
    process.run(0).knob("parallelism", 1).set(8);
    process.run(0).knob("window", 1).set(1'000);
    EXPECT_NEAR(rate_of(process, 40), 100, 5) << "8 calls of 80 ms";
  }
}

TEST(Scenarios, OtherConstantsScaleRatesAndSizes) {
  ProcessSpec spec = process_of({waiting(10)});
  Scenario scenario;
  scenario.process = spec;
  SimulatedProcess plain(spec, 1);
  const ProcessSpec other = scaled(scenario, 4, 0.5).process;
  SimulatedProcess slower(other, 1);
  EXPECT_NEAR(rate_of(slower, 10), rate_of(plain, 10) / 4, 2);
  EXPECT_EQ(other.chains[0].stages[0].result_bytes, 0.5 * spec.chains[0].stages[0].result_bytes);
  EXPECT_EQ(other.chains[0].memory, spec.chains[0].memory / 2);
}

// S07's device gives 1,000/s: half of it is half the score, and no bar.
TEST(Grade, SeesAPolicyThatIsTooSlow) {
  for (const Scenario& scenario : all_scenarios()) {
    if (scenario.id != "S07") continue;
    const auto facts = facts_of(scenario, false);
    const Grade slow = grade(scenario, facts, "static:4", 1);
    EXPECT_NEAR(slow.x, 0.5, 0.03);
    EXPECT_EQ(slow.t90_s, kNoBar);
    EXPECT_FALSE(slow.missed.empty());
    EXPECT_TRUE(slow.broken.empty());
    auto careless = facts;
    careless[0].optimum.settings = {{"parallelism", 1, 200}};
    EXPECT_FALSE(grade(scenario, careless, "oracle", 1).broken.empty()) << "more than 64 calls that wait";
  }
}

// Of S07, nothing from the first second on, for so long.
RunRecord standing_still(Time time_of_it) {
  RunRecord run;
  run.memory_bound = run.memory_peak = 1;
  run.open_io = 64;
  for (Time time = 10 * kMillisecond; time <= scenario_named("S07").duration; time += 10 * kMillisecond) {
    const bool goes_on = time <= kSecond || time > kSecond + time_of_it;
    run.samples.emplace_back();
    run.samples.back().time = time;
    run.samples.back().taken = goes_on ? time : kSecond;  // one a nanosecond
  }
  return run;
}

TEST(Grade, CallsItADeadlockWhereNothingComesForFiveSeconds) {
  const Scenario scenario = scenario_named("S07");
  const auto facts = facts_of(scenario, false);
  EXPECT_TRUE(grade(scenario, facts, standing_still(4 * kSecond)).broken.empty());
  EXPECT_EQ(grade(scenario, facts, standing_still(6 * kSecond)).broken.size(), 1u);
}

TEST(Grade, HoldsEveryScenarioToTwiceTheOraclesBytesAndABit) {
  const Scenario scenario = scenario_named("S07");
  std::vector<PhaseFacts> facts(1);
  facts.front().optimum = {.rate = 1e9, .peak_bytes = 10e6, .cpu_s = 1, .settings = {}};
  RunRecord run = standing_still(0);
  run.memory_bound = std::int64_t{1} << 40;
  const auto misses_bytes = [&](std::int64_t peak) {
    run.memory_peak = peak;
    return std::ranges::any_of(grade(scenario, facts, run).missed,
                               [](const std::string& bar) { return bar.starts_with("bytes (MiB)"); });
  };
  EXPECT_FALSE(misses_bytes(20'000'000 + (32 << 20)));
  EXPECT_TRUE(misses_bytes(20'000'000 + (33 << 20)));
}

// A second in which the controller sees twice the CPU time of a call.
TEST(Grade, SeesHowFarTheCpuTimeOfACallDriftsFromPhaseToPhase) {
  const Scenario scenario = scenario_named("S18");
  const std::vector<PhaseFacts> facts(3);
  RunRecord run = standing_still(0);
  run.samples.resize(6'000, run.samples.back());
  const auto drifts = [&](double times) {
    run.measured.clear();
    std::int64_t cpu_ns = 0;
    for (Time second = 1; second <= 60; ++second) {
      cpu_ns += static_cast<std::int64_t>(1e8 * (second > 20 && second <= 40 ? times : 1));
      run.measured.push_back({second * kSecond, {cpu_ns}, {100 * second}});
    }
    return std::ranges::any_of(grade(scenario, facts, run).missed,
                               [](const std::string& bar) { return bar.starts_with("drift"); });
  };
  EXPECT_FALSE(drifts(1.05));
  EXPECT_TRUE(drifts(1.2));
}

TEST(Grade, OraclesOwnSettingsReachItsRate) {
  for (const Scenario& scenario : all_scenarios()) {
    if (scenario.id != "S01" && scenario.id != "S10" && scenario.id != "S15") continue;
    const Grade best = grade(scenario, facts_of(scenario, false), "oracle", 1);
    EXPECT_NEAR(best.x, 1, 0.02) << scenario.id;
    EXPECT_LT(best.bytes, 2) << scenario.id << ": the first moments are not the oracle's";
  }
}

// Thirty seconds of S12 with the other constants are 400 elements: a run of the best settings is 8 % below their mean
// in some seeds.
TEST(Grade, GivesLuckToBothWhereTheWorldDoesNotChange) {
  const Scenario scenario = scaled(scenario_named("S12"), kOtherTimes, kOtherSizes);
  const auto facts = facts_of(scenario, false);
  double most = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    most = std::max(most, std::abs(grade(scenario, facts, "oracle", seed).x - 1));
    EXPECT_DOUBLE_EQ(grade(scenario, paired(scenario, facts, seed), "oracle", seed).x, 1);
  }
  EXPECT_GT(most, 0.02) << "nothing to be paired here";
}

// Of elements that take minutes nothing may come in half of the time: nothing can be compared with that.
TEST(Grade, KeepsTheKnownRateWhereTheOraclesSettingsGaveNothing) {
  const Scenario scenario = scaled(scenario_named("S01"), 100'000, 1);
  std::vector<PhaseFacts> facts(1);
  facts.front().optimum.rate = 0.02;
  EXPECT_EQ(paired(scenario, facts, 1).front().optimum.rate, 0.02);
}

TEST(Ablation, FindsWhatHelps) {
  using Kind = Resource::Kind;
  const auto first = [](const ProcessSpec& process) {
    const auto found = bottlenecks(process, search(process));
    return found.empty() ? Resource{Kind::memory, 99} : found.front();
  };
  EXPECT_EQ(first(process_of({computing(4)})), (Resource{Kind::cpu, -1}));
  ProcessSpec device = process_of({waiting(8), computing(0.1)});
  device.chains[0].devices = {{.slots = 4}};
  device.chains[0].stages[0].device = 0;
  EXPECT_EQ(first(device), (Resource{Kind::stage, 1}));
  ProcessSpec slow = process_of({computing(0.5)});
  slow.chains[0].consumer[0].idle = 10 * kMs;
  EXPECT_EQ(first(slow), (Resource{Kind::consumer, -1}));
}

TEST(RandomScenarios, AreTheSameForTheSameNumber) {
  EXPECT_EQ(hash_of(random_scenario(7).process), hash_of(random_scenario(7).process));
  EXPECT_NE(hash_of(random_scenario(7).process), hash_of(random_scenario(8).process));
}

TEST(RandomScenarios, HaveAllKindsOfGraphs) {
  int pairs = 0, devices = 0, batches = 0, shards = 0, zips = 0;
  for (std::uint64_t number = 1; number <= 100; ++number) {
    const ProcessSpec process = random_scenario(number).process;
    pairs += process.chains.size() == 2;
    devices += !process.chains[0].devices.empty();
    for (const StageSpec& stage : process.chains[0].stages) {
      batches += stage.batch > 1;
      shards += stage.fan_out.mean > 1;
      zips += stage.role == StageSpec::Role::zip;
    }
  }
  for (const int count : {pairs, devices, batches, shards, zips}) EXPECT_GE(count, 3);
}

TEST(Plot, DrawsACurveForEachPolicy) {
  Figure figure{.title = "S99",
                .seconds = 10,
                .best = {1, 1},
                .curves = {{"some", {1, 2}, {3, 4}, {5, 6}}, {"other", {1, 2}, {3, 4}, {5, 6}}}};
  const std::string svg = svg_of({figure});
  std::size_t lines = 0;
  for (std::size_t at = svg.find("<polyline"); at != std::string::npos; at = svg.find("<polyline", at + 1)) ++lines;
  EXPECT_EQ(lines, 7u) << "three panels of two curves, and the oracle's rate";
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

}  // namespace
}  // namespace penstock::exam
