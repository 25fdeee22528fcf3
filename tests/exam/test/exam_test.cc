// The exam itself: what it asks, and that its oracle's table is true.
#include "tests/exam/exam.h"

#include <gtest/gtest.h>

#include "tests/exam/plot.h"
#include "tests/exam/test/worlds.h"

namespace penstock::exam {
namespace {

struct Phase {
  std::string name;
  PlantSpec frozen;
};

std::vector<Phase> all_phases() {
  std::vector<Phase> all;
  for (const double times : {1.0, kOtherTimes}) {
    for (const Scenario& plain : all_scenarios()) {
      const Scenario scenario = scaled(plain, times, times == 1 ? 1 : kOtherSizes);
      for (const Time phase : phases(scenario)) all.push_back({scenario.id, frozen_at(scenario.plant, phase)});
    }
  }
  return all;
}

TEST(OracleTable, HoldsEveryPhaseOfEveryScenario) {
  for (const Phase& phase : all_phases()) EXPECT_TRUE(is_in_table(phase.frozen)) << phase.name << ": run penstock-scorecard --make-oracle";
  for (std::uint64_t number = 1; number <= kRandomInTable; ++number) EXPECT_TRUE(is_in_table(random_scenario(number).plant)) << number;
}

// The settings of each entry are tried, and a descent must find nothing that is better over as long a time. A tenth of them where PENSTOCK_SMALL
// is set.
TEST(OracleTable, EveryEntryHoldsAgainstADescent) {
  const std::vector<Phase> all = all_phases();
  const std::size_t step = std::getenv("PENSTOCK_SMALL") != nullptr ? 10 : 1;
  for (std::size_t i = 0; i < all.size(); i += step) {
    const Phase& phase = all[i];
    SCOPED_TRACE(phase.name);
    const Optimum known = optimum_of(phase.frozen);
    const auto rate_with = [&](const Settings& settings) { return measure(phase.frozen, settings, 20 * kSecond, 3).rate; };
    const double rate = rate_with(known.settings);
    EXPECT_NEAR(rate, known.rate, 0.02 * known.rate);
    EXPECT_LT(rate_with(search_by_descent(phase.frozen).settings), 1.02 * rate);
  }
}

TEST(OracleTable, ChangesWithEveryConstant) {
  const PlantSpec plain = plant_of({waiting(10), computing(1)});
  const auto differs = [&](auto&& change) {
    PlantSpec other = plain;
    change(other);
    return hash_of(other) != hash_of(plain);
  };
  EXPECT_TRUE(differs([](PlantSpec& plant) { plant.host.cores = 3; }));
  EXPECT_TRUE(differs([](PlantSpec& plant) { plant.chains[0].memory /= 2; }));
  EXPECT_TRUE(differs([](PlantSpec& plant) { plant.chains[0].stages[0].blocked = Distribution::constant(10.0001 * kMs); }));
  EXPECT_TRUE(differs([](PlantSpec& plant) { plant.chains[0].stages[1].ordered = false; }));
  EXPECT_TRUE(differs([](PlantSpec& plant) { plant.chains[0].consumer[0].idle = 1; }));
  EXPECT_FALSE(differs([](PlantSpec& plant) { plant.chains[0].stages[0].name = "another"; }));
}

TEST(Scenarios, AreTheTwentyOfTheDesign) {
  std::vector<std::string> ids;
  for (const Scenario& scenario : all_scenarios()) {
    if (ids.empty() || ids.back() != scenario.id.substr(0, 3)) ids.push_back(scenario.id.substr(0, 3));
  }
  ASSERT_EQ(ids.size(), 20u);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(ids[i], (i < 9 ? "S0" : "S") + std::to_string(i + 1));
}

TEST(Scenarios, FrozenWorldIsThatOfThePhase) {
  for (const Scenario& scenario : all_scenarios()) {
    if (scenario.id != "S08") continue;
    EXPECT_EQ(phases(scenario), (std::vector<Time>{0, 40 * kSecond, 80 * kSecond}));
    SimulatedProcess plant(frozen_at(scenario.plant, 40 * kSecond), 1);
    plant.run(0).knob("parallelism", 1).set(8);
    plant.run(0).knob("window", 1).set(1'000);
    EXPECT_NEAR(rate_of(plant, 40), 100, 5) << "8 calls of 80 ms";
  }
}

TEST(Scenarios, OtherConstantsScaleRatesAndSizes) {
  PlantSpec spec = plant_of({waiting(10)});
  Scenario scenario;
  scenario.plant = spec;
  SimulatedProcess plain(spec, 1);
  const PlantSpec other = scaled(scenario, 4, 0.5).plant;
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

// Of S07, nothing from the first second on.
RunRecord standing_still(Time time_of_it, std::int64_t calls_under_way) {
  RunRecord run;
  run.memory_bound = run.memory_peak = 1;
  run.open_io = 64;
  for (Time time = 10 * kMillisecond; time <= scenario_named("S07").duration; time += 10 * kMillisecond) {
    const bool goes_on = time <= kSecond || time > kSecond + time_of_it;
    run.samples.emplace_back();
    run.samples.back().time = time;
    run.samples.back().taken = goes_on ? time : kSecond;  // one a nanosecond
    run.samples.back().calls = goes_on ? 8 : calls_under_way;
  }
  return run;
}

TEST(Grade, TellsADeadlockFromALongCall) {
  const Scenario scenario = scenario_named("S07");
  const auto facts = facts_of(scenario, false);
  EXPECT_TRUE(grade(scenario, facts, standing_still(10 * kSecond, 1)).broken.empty());
  EXPECT_EQ(grade(scenario, facts, standing_still(10 * kSecond, 0)).broken.size(), 1u);
  EXPECT_EQ(grade(scenario, facts, standing_still(25 * kSecond, 1)).broken.size(), 1u);
}

TEST(Grade, OraclesOwnSettingsReachItsRate) {
  for (const Scenario& scenario : all_scenarios()) {
    if (scenario.id != "S01" && scenario.id != "S10" && scenario.id != "S15") continue;
    const Grade best = grade(scenario, facts_of(scenario, false), "oracle", 1);
    EXPECT_NEAR(best.x, 1, 0.02) << scenario.id;
    EXPECT_LT(best.bytes, 2) << scenario.id << ": the first moments are not the oracle's";
  }
}

// Thirty seconds of S12 with the other constants are 400 elements: a run of the best settings is 8 % below their mean in some seeds.
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
  const auto first = [](const PlantSpec& plant) {
    const auto found = bottlenecks(plant, search_by_descent(plant));
    return found.empty() ? Resource{Kind::memory, 99} : found.front();
  };
  EXPECT_EQ(first(plant_of({computing(4)})), (Resource{Kind::cpu, -1}));
  PlantSpec device = plant_of({waiting(8), computing(0.1)});
  device.chains[0].devices = {{.slots = 4}};
  device.chains[0].stages[0].device = 0;
  EXPECT_EQ(first(device), (Resource{Kind::stage, 1}));
  PlantSpec slow = plant_of({computing(0.5)});
  slow.chains[0].consumer[0].idle = 10 * kMs;
  EXPECT_EQ(first(slow), (Resource{Kind::consumer, -1}));
}

TEST(RandomScenarios, AreTheSameForTheSameNumber) {
  EXPECT_EQ(hash_of(random_scenario(7).plant), hash_of(random_scenario(7).plant));
  EXPECT_NE(hash_of(random_scenario(7).plant), hash_of(random_scenario(8).plant));
}

TEST(RandomScenarios, HaveAllKindsOfGraphs) {
  int pairs = 0, devices = 0, batches = 0, shards = 0;
  for (std::uint64_t number = 1; number <= 100; ++number) {
    const PlantSpec plant = random_scenario(number).plant;
    pairs += plant.chains.size() == 2;
    devices += !plant.chains[0].devices.empty();
    for (const StageSpec& stage : plant.chains[0].stages) {
      batches += stage.batch > 1;
      shards += stage.fan_out.mean > 1;
    }
  }
  for (const int count : {pairs, devices, batches, shards}) EXPECT_GE(count, 3);
}

TEST(Plot, DrawsACurveForEachPolicy) {
  Figure figure{.title = "S99", .seconds = 10, .best = {1, 1}, .curves = {{"some", {1, 2}, {3, 4}, {5, 6}}, {"other", {1, 2}, {3, 4}, {5, 6}}}};
  const std::string svg = svg_of({figure});
  std::size_t lines = 0;
  for (std::size_t at = svg.find("<polyline"); at != std::string::npos; at = svg.find("<polyline", at + 1)) ++lines;
  EXPECT_EQ(lines, 7u) << "three panels of two curves, and the oracle's rate";
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

}  // namespace
}  // namespace penstock::exam
