// Exam: scenarios x policies x seeds, on several threads, and what comes of it for each scenario and policy.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/exam/grade.h"
#include "tests/exam/random_scenario.h"
#include "tests/exam/scenario.h"

namespace penstock::exam {

// Of all seeds: medians, but for the worst where a bar binds at any time.
struct Summary {
  std::string scenario, policy;
  Grade grade;
  int seeds = 0, seeds_met = 0;
  std::string first_miss;  // of the seeds that missed a bar
  bool bar_met = false, gates_met = true;
  double score = 0;
};

// Of at least one grade. A bar counts as met where four of five meet it and no gate is broken.
Summary summarise(const Scenario& scenario, const std::string& policy, const std::vector<Grade>& grades);

// What is known of the phases of a scenario; bottlenecks only if asked for.
std::vector<PhaseFacts> facts_of(const Scenario& scenario, bool explain);

struct ExamSettings {
  std::vector<std::string> policies = {"penstock"};
  int seeds = 20;
  int baseline_seeds = 3;  // of all policies but penstock
  int threads = 2;
  bool explain = false;  // ask explain() each second, and find out by ablation what is true
};

// Gives the summaries in order: scenario by scenario, and there as the policies are named. `report` is called as each
// becomes known.
std::vector<Summary> sit(const std::vector<Scenario>& scenarios, const ExamSettings& settings,
                         const std::function<void(const Summary&)>& report);

// The second exam: other constants, the same bars.
inline constexpr double kOtherTimes = 3.7, kOtherSizes = 0.3;

// Searches every phase of every scenario, with both sets of constants, and writes oracle_table.inc. `again`: only those
// whose ids begin so, and what the present table lacks.
void make_oracle_table(const std::string& file, const std::vector<std::string>& again, int threads,
                       const std::function<void(const std::string&)>& report);

struct RandomSummary {
  int scenarios = 0;
  double median = 0, fifth = 0;  // 5th percentile
  bool gates_met = true;
};
// At least one random scenario, one seed each: its number. `report`: of each, as it becomes known.
RandomSummary sit_random(const std::vector<Scenario>& scenarios, const std::string& policy, int threads,
                         const std::function<void(const Scenario&, const RandomResult&)>& report);

// How far the descent stays behind the search of everything: the least ratio over each 20th of the random scenarios
// that are small enough for it.
double check_descent(int count, int threads, const std::function<void(const std::string&, double)>& report);

// Geometric mean of the scenarios' scores.
double score_of(const std::vector<Summary>& summaries);
// The scenarios in which a policy is more than 3 % slower than the best of the others but the oracle.
std::vector<std::string> beaten(const std::vector<Summary>& summaries, const std::string& policy);
// Scenarios whose variants have all met their bars; of how many.
std::pair<int, int> bars_met(const std::vector<Summary>& summaries);

}  // namespace penstock::exam
