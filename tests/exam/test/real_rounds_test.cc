// The exam in real time: how long it takes, which rounds count, and what is told of them. Nothing here depends on how
// fast anything is.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/exam/real/machine_lock.h"
#include "tests/exam/real/noise.h"
#include "tests/exam/real/peer.h"
#include "tests/exam/real/real_pipeline.h"
#include "tests/exam/real/real_exam.h"
#include "tests/exam/real/report.h"
#include "tests/exam/real/timing.h"
#include "tests/exam/test/worlds.h"
#include "tests/support/temporary_folder.h"

namespace penstock::exam {
namespace {

// ------------------------------------------------------------------------------------------------ shorter phases

TEST(Shortened, KeepsTheWorldsOfAllPhases) {
  for (const std::string& id : real_by_default()) {
    const Scenario whole = scenario_named(id), brief = shortened(whole);
    ASSERT_EQ(phases(brief).size(), phases(whole).size()) << id;
    for (std::size_t i = 0; i < phases(whole).size(); ++i) {
      const ProcessSpec before = frozen_at(whole.process, phases(whole)[i]),
                        after = frozen_at(brief.process, phases(brief)[i]);
      EXPECT_EQ(hash_of(before), hash_of(after)) << id << ", phase " << i;
    }
    EXPECT_LE(brief.duration, whole.duration) << id;
  }
}

TEST(Shortened, LeavesTheBarsTheTimeTheyNeed) {
  const Scenario steps = shortened(scenario_named("S08"));
  EXPECT_EQ(phases(steps), (std::vector<Time>{0, 5 * kSecond, 10 * kSecond}));
  EXPECT_EQ(steps.duration, 21 * kSecond);                             // calls are to be given back within 10 s
  EXPECT_EQ(shortened(scenario_named("S06")).duration, 26 * kSecond);  // the depth is looked at after 20 s
  EXPECT_EQ(shortened(scenario_named("S07")).duration, 17 * kSecond);  // calls are counted from 15 s on
  EXPECT_EQ(shortened(scenario_named("S02")).duration, 5 * kSecond);
}

TEST(WithPhasesAtMost, CutsEachPhase) {
  const Scenario steps = with_phases_at_most(scenario_named("S08"), kSecond);
  EXPECT_EQ(phases(steps), (std::vector<Time>{0, kSecond, 2 * kSecond}));
  EXPECT_EQ(steps.duration, 3 * kSecond);
}

// ------------------------------------------------------------------------------------------------ noise

TEST(ReasonToDiscard, IsNoneOnACalmMachine) {
  EXPECT_EQ(reason_to_discard({.spins_s = {1.0, 1.04, 1.02}, .foreign_cpu = {0.01, 0.049}}), "");
  EXPECT_EQ(reason_to_discard({}), "");
}

TEST(ReasonToDiscard, IsASpinThatMovesInEitherDirection) {
  EXPECT_EQ(reason_to_discard({.spins_s = {1.0, 1.1}, .foreign_cpu = {}}),
            "the fixed spin moved by 10.0 %, at most 5 % is allowed");
  EXPECT_EQ(reason_to_discard({.spins_s = {1.1, 1.1, 1.0}, .foreign_cpu = {}}),
            "the fixed spin moved by 10.0 %, at most 5 % is allowed");
}

TEST(ReasonToDiscard, IsForeignCpuInAnyOneRun) {
  EXPECT_EQ(reason_to_discard({.spins_s = {1.0, 1.0}, .foreign_cpu = {0.0, 0.08}}),
            "others used 8.0 % of the CPUs, at most 5 % is allowed");
}

TEST(MachineLock, IsHeldByOneAtATime) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "lock").string();
  {
    const MachineLock held(file);
    EXPECT_THROW(MachineLock again(file), std::runtime_error);
  }
  EXPECT_NO_THROW(MachineLock again(file));
}

// ------------------------------------------------------------------------------------------------ judging and telling

// A run that gives `per_tick` elements every 10 ms.
RunRecord even_run(Time duration, std::int64_t per_tick) {
  RunRecord run;
  for (Time time = 10 * kMillisecond; time <= duration; time += 10 * kMillisecond) {
    const std::int64_t ticks = time / (10 * kMillisecond);
    run.samples.push_back({.time = time,
                           .taken = ticks * per_tick,
                           .calls = 2,
                           .pool_calls = 1,
                           .bytes = 10,
                           .prefetch = 1,
                           .cpu_ns = 5e6 * static_cast<double>(ticks),
                           .changes = 0});
  }
  run.memory_peak = 10;
  run.memory_bound = 100;
  run.open_io = 64;
  return run;
}

TEST(Grade, OfARecordIsItsShareOfTheOraclesRecord) {
  Scenario scenario = scenario_named("S03");
  scenario.duration = 4 * kSecond;
  const auto facts = facts_of(scenario, even_run(4 * kSecond, 10));
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_NEAR(facts[0].optimum.rate, 1000, 1e-6);
  EXPECT_NEAR(facts[0].optimum.cpu_s, 5e-4, 1e-9);
  const Grade good = grade(scenario, facts, even_run(4 * kSecond, 10)),
              slow = grade(scenario, facts, even_run(4 * kSecond, 9));
  EXPECT_NEAR(good.x, 1, 1e-9);
  EXPECT_TRUE(good.missed.empty());
  EXPECT_NEAR(slow.x, 0.9, 1e-9);
  EXPECT_FALSE(slow.missed.empty());
}

RoundRow row_of(int round, std::string discarded, std::vector<std::string> missed) {
  RoundRow row{.scenario = "S01",
               .policy = "penstock",
               .round = round,
               .discarded = std::move(discarded),
               .grade = {},
               .rate = 990,
               .oracle_rate = 1000};
  row.grade.x = 0.99;
  row.grade.missed = std::move(missed);
  return row;
}

TEST(Rounds, MeetABarWhereFourOfFiveDo) {
  const Scenario scenario = scenario_named("S01");
  std::vector<RoundRow> rows;
  for (int i = 1; i <= 4; ++i) rows.push_back(row_of(i, "", {}));
  rows.push_back(row_of(5, "", {"rate 0.9, at least 0.97"}));
  EXPECT_TRUE(summarise_rounds(scenario, "penstock", rows).summary.bar_met);
  rows[0].grade.missed = {"rate 0.9, at least 0.97"};
  EXPECT_FALSE(summarise_rounds(scenario, "penstock", rows).summary.bar_met);
}

TEST(Rounds, AreNotShownWhereMoreThanHalfAreDiscarded) {
  const Scenario scenario = scenario_named("S01");
  std::vector<RoundRow> rows = {row_of(1, "", {}), row_of(2, "noise", {}), row_of(3, "noise", {}), row_of(4, "", {})};
  EXPECT_TRUE(summarise_rounds(scenario, "penstock", rows).is_shown);
  rows.push_back(row_of(5, "noise", {}));
  const RealSummary summary = summarise_rounds(scenario, "penstock", rows);
  EXPECT_FALSE(summary.is_shown);
  EXPECT_FALSE(summary.summary.bar_met);
  EXPECT_EQ(text_of(summary), "S01   penstock  NOT SHOWN: 3 of 5 rounds were discarded");
  EXPECT_TRUE(nlohmann::json::parse(json_of(summary))["x_ratio"].is_null());
}

TEST(Rounds, DiscardedOnesDoNotCountForTheBarButDoForGates) {
  const Scenario scenario = scenario_named("S01");
  std::vector<RoundRow> rows = {row_of(1, "", {}), row_of(2, "noise", {"rate 0.1, at least 0.97"})};
  EXPECT_TRUE(summarise_rounds(scenario, "penstock", rows).summary.bar_met);
  rows[1].grade.broken = {"bytes 2, at most 1"};
  EXPECT_FALSE(summarise_rounds(scenario, "penstock", rows).summary.gates_met);
}

TEST(RoundLines, TellWhyARoundCountsForNothing) {
  const RoundRow row = row_of(2, "others used 8.0 % of the CPUs, at most 5 % is allowed", {});
  EXPECT_TRUE(text_of(row, true).ends_with("discarded: others used 8.0 % of the CPUs, at most 5 % is allowed"))
      << text_of(row, true);
  const auto json = nlohmann::json::parse(json_of(row, true));
  EXPECT_EQ(json["discarded"], row.discarded);
  EXPECT_EQ(json["round"], 2);
  EXPECT_FALSE(json.contains("round_met"));
}

TEST(RoundLines, TellWhichBarsAreMissed) {
  const RoundRow row = row_of(1, "", {"rate 0.9, at least 0.97", "bytes 2, at most 1.5"});
  EXPECT_TRUE(text_of(row, true).ends_with("missed: rate 0.9, at least 0.97; bytes 2, at most 1.5"))
      << text_of(row, true);
  EXPECT_TRUE(text_of(row, false).ends_with("not judged: too short")) << text_of(row, false);
  EXPECT_EQ(nlohmann::json::parse(json_of(row, true))["round_met"], false);
}

TEST(RealSummaryLine, HasTheFieldsThatScriptsRead) {
  const RealSummary summary = summarise_rounds(scenario_named("S01"), "penstock", {row_of(1, "", {})});
  const auto json = nlohmann::json::parse(json_of(summary));
  EXPECT_EQ(json["mode"], "real");
  for (const char* name : {"scenario", "policy", "x_ratio", "yield", "t90_s", "peak_bytes_ratio", "cpu_ratio",
                           "in_flight_max", "changes_per_min", "bar_met", "gates_met", "rounds", "rounds_met",
                           "rounds_discarded", "x_ratio_min", "shown"}) {
    EXPECT_TRUE(json.contains(name)) << name;
  }
}

TEST(SitReal, GivesARowForEachPolicyInEachRound) {
  RealSettings settings;
  settings.policies = {"penstock", "cores"};
  settings.rounds = 2;
  settings.seconds = 0.1;
  std::multiset<std::string> seen;
  const auto summaries = sit_real(scenario_named("S01"), settings,
                                  [&](const RoundRow& row) { seen.insert(row.policy + std::to_string(row.round)); });
  EXPECT_EQ(seen, (std::multiset<std::string>{"cores1", "cores2", "penstock1", "penstock2"}));
  EXPECT_EQ(summaries.size(), 2u);
}

// ------------------------------------------------------------------------------------------------ beside tf.data

TEST(PeerCases, CanAllBeDone) {
  for (const Scenario& scenario : peer_cases()) EXPECT_EQ(not_in_real_mode(scenario), "") << scenario.id;
}

TEST(PeerCases, GiveLinesInThePeersProtocol) {
  RealSettings settings;
  settings.policies = {"static:4"};
  settings.rounds = 1;
  settings.seconds = 0.3;
  std::vector<nlohmann::json> lines;
  run_peer_cases({"S02b"}, settings, [&](const std::string& line) { lines.push_back(nlohmann::json::parse(line)); });
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["case"], "S02b");
  EXPECT_EQ(lines[0]["variant"], "ours_static:4");
  std::int64_t sum = 0;
  for (const auto& tenth : lines[0]["per_100ms"]) sum += tenth.get<std::int64_t>();
  EXPECT_LE(sum, lines[0]["elements"].get<std::int64_t>());
  EXPECT_GT(sum, 0);
  EXPECT_THROW(run_peer_cases({"S99"}, settings, [](const std::string&) {}), std::invalid_argument);
}

}  // namespace
}  // namespace penstock::exam
