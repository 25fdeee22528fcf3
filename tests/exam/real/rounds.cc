#include "tests/exam/real/rounds.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>

#include "tests/exam/real/real_run.h"
#include "tests/exam/real/timing.h"

namespace penstock::exam {
namespace {

const char* const kOracle = "oracle";
constexpr Time kOraclePhase = 5 * kSecond;  // nothing changes in one of its phases

// What all rounds of a scenario share.
struct Exam {
  Scenario tuned, oracle;
  std::vector<PhaseFacts> optima;  // by the process: the settings that the oracle's runs are given
  std::vector<std::string> order;  // of the first round's runs

  const Scenario& scenario_of(const std::string& policy) const { return policy == kOracle ? oracle : tuned; }
};

Exam exam_of(const Scenario& scenario, const RealSettings& settings) {
  const Scenario tuned = as_played(scenario, settings);
  Exam exam{tuned, with_phases_at_most(tuned, kOraclePhase), facts_of(scenario, false), {kOracle}};
  for (const std::string& policy : settings.policies) {
    if (policy != kOracle) exam.order.push_back(policy);
  }
  return exam;
}

struct Round {
  std::map<std::string, RunRecord> records;  // by policy
  RoundNoise noise;
  double alone_ns = 0;  // the consumer's step, where a bar asks for it
};

Round run_round(const Exam& exam, int number, const RealSettings& settings) {
  Round round;
  round.noise.spins_s.push_back(time_fixed_spin());
  if (exam.tuned.bars.step_p95 != kNoBar) round.alone_ns = step_alone_ns(exam.tuned);
  for (std::size_t i = 0; i < exam.order.size(); ++i) {
    const std::string& policy = exam.order[(i + static_cast<std::size_t>(number)) % exam.order.size()];
    const Scenario& scenario = exam.scenario_of(policy);
    RealRun run = run_real(
        scenario, [&] { return policy_of(policy, scenario, exam.optima); }, settings.pictures);
    round.records[policy] = std::move(run.record);
    round.noise.foreign_cpu.push_back(run.foreign_cpu);
    round.noise.spins_s.push_back(time_fixed_spin());
  }
  return round;
}

double last_rate(const Scenario& scenario, const RunRecord& run) { return facts_of(scenario, run).back().optimum.rate; }

double mean_rate(const Scenario& scenario, const RunRecord& run) {
  return static_cast<double>(run.samples.back().taken) * 1e9 / static_cast<double>(scenario.duration);
}

std::vector<RoundRow> rows_of(const Exam& exam, int number, Round round) {
  const std::string discarded = reason_to_discard(round.noise);
  const RunRecord& oracle = round.records.at(kOracle);
  const std::vector<PhaseFacts> facts = facts_of(exam.oracle, oracle);
  std::vector<RoundRow> rows;
  for (auto& [policy, record] : round.records) {
    if (policy == kOracle) continue;
    record.step_alone_ns = round.alone_ns;
    rows.push_back({.scenario = exam.tuned.id,
                    .policy = policy,
                    .round = number,
                    .discarded = discarded,
                    .grade = grade(exam.tuned, facts, record),
                    .rate = last_rate(exam.tuned, record),
                    .oracle_rate = last_rate(exam.oracle, oracle),
                    .mean_rate = mean_rate(exam.tuned, record)});
  }
  return rows;
}

}  // namespace

Scenario as_played(const Scenario& scenario, const RealSettings& settings) {
  return settings.is_judged() ? shortened(scenario)
                              : with_phases_at_most(scenario, static_cast<Time>(settings.seconds * 1e9));
}

RealSummary summarise_rounds(const Scenario& scenario, const std::string& policy, const std::vector<RoundRow>& rows) {
  RealSummary result;
  std::vector<Grade> grades;
  bool breaks_a_gate = false;
  result.least_x = std::numeric_limits<double>::infinity();
  for (const RoundRow& row : rows) {
    if (row.policy != policy) continue;
    breaks_a_gate = breaks_a_gate || !row.grade.broken.empty();  // no noise excuses that
    if (!row.discarded.empty()) {
      ++result.discarded;
      continue;
    }
    grades.push_back(row.grade);
    result.least_x = std::min(result.least_x, row.grade.x);
  }
  result.is_shown = !grades.empty() && static_cast<std::size_t>(result.discarded) <= grades.size();
  if (!grades.empty()) result.summary = summarise(scenario, policy, grades);
  result.summary.scenario = scenario.id;
  result.summary.policy = policy;
  result.summary.gates_met = !breaks_a_gate;
  result.summary.bar_met = result.summary.bar_met && result.is_shown && !breaks_a_gate;
  return result;
}

std::vector<RealSummary> sit_real(const Scenario& scenario, const RealSettings& settings,
                                  const std::function<void(const RoundRow&)>& report_round) {
  const Exam exam = exam_of(scenario, settings);
  std::vector<RoundRow> rows;
  int counted = 0;
  int discarded = 0;
  while (counted < settings.rounds && discarded <= settings.rounds) {
    const int number = counted + discarded + 1;
    const std::vector<RoundRow> more = rows_of(exam, number, run_round(exam, number, settings));
    for (const RoundRow& row : more) report_round(row);
    rows.insert(rows.end(), more.begin(), more.end());
    const bool counts = !settings.is_judged() || more.empty() || more.front().discarded.empty();
    ++(counts ? counted : discarded);
  }
  std::vector<RealSummary> summaries;
  for (const std::string& policy : exam.order) {
    if (policy != kOracle) summaries.push_back(summarise_rounds(exam.tuned, policy, rows));
  }
  return summaries;
}

double seconds_of(const Scenario& scenario, const RealSettings& settings) {
  const Exam exam = exam_of(scenario, settings);
  const auto policies = static_cast<double>(exam.order.size() - 1);
  const double alone = exam.tuned.bars.step_p95 == kNoBar ? 0 : 1;
  return settings.rounds *
         (1e-9 * (policies * static_cast<double>(exam.tuned.duration) + static_cast<double>(exam.oracle.duration)) +
          alone);
}

}  // namespace penstock::exam
