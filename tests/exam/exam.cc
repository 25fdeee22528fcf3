#include "tests/exam/exam.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>

#include "tests/exam/parallel.h"
#include "tests/exam/random_scenario.h"

namespace penstock::exam {
namespace {

constexpr double kSeedsThatMeet = 0.8;  // 4 of 5

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

// What was never reached counts as 1,000 times the bar.
double within(double bar, double value) {
  if (bar == kNoBar || value <= bar) return 1;
  return std::pow(std::max(bar / value, 1e-3), 0.1);
}

double score(const Grade& grade, const Bars& bars) {
  return std::min(1.0, std::max(grade.x, 1e-3)) * within(bars.t90_s, grade.t90_s) * within(bars.bytes, grade.bytes) *
         within(bars.cpu, grade.cpu);
}

struct FrozenPhase {
  ProcessSpec frozen;
  std::string name;
};

// Each of all scenarios' phases, as they are and with the other constants of the exam, once.
std::vector<FrozenPhase> all_worlds() {
  std::vector<FrozenPhase> worlds;
  std::set<std::uint64_t> known;
  for (const auto& [times, sizes] : {std::pair(1.0, 1.0), std::pair(kOtherTimes, kOtherSizes)}) {
    for (const Scenario& plain : all_scenarios()) {
      const Scenario scenario = scaled(plain, times, sizes);
      for (const Time phase : phases(scenario)) {
        FrozenPhase world = {
            frozen_at(scenario.process, phase),
            scenario.id + " from " + std::to_string(phase / kSecond) + " s" + (times == 1 ? "" : ", other constants")};
        if (known.insert(hash_of(world.frozen)).second) worlds.push_back(std::move(world));
      }
    }
  }
  return worlds;
}

}  // namespace

Summary summarise(const Scenario& scenario, const std::string& policy, const std::vector<Grade>& grades) {
  Summary summary;
  summary.scenario = scenario.id;
  summary.policy = policy;
  summary.seeds = static_cast<int>(grades.size());
  const auto middle = [&](double Grade::*value) {
    std::vector<double> values;
    for (const Grade& each : grades) values.push_back(each.*value);
    return median(std::move(values));
  };
  for (const auto value : {&Grade::x, &Grade::yield, &Grade::t90_s, &Grade::recover_s, &Grade::bytes, &Grade::cpu,
                           &Grade::changes_per_min, &Grade::step_p95, &Grade::explained}) {
    summary.grade.*value = middle(value);
  }
  for (const Grade& each : grades) {
    summary.grade.in_flight_max = std::max(summary.grade.in_flight_max, each.in_flight_max);
    for (const auto& [what, seconds] : each.wrongly_named) summary.grade.wrongly_named[what] += seconds;
    summary.seeds_met += each.missed.empty();
    if (!each.missed.empty() && summary.first_miss.empty()) summary.first_miss = each.missed.front();
    if (!each.broken.empty()) {
      summary.first_miss = "GATE: " + each.broken.front();
      summary.gates_met = false;
    }
  }
  summary.bar_met = summary.seeds_met >= kSeedsThatMeet * summary.seeds && summary.gates_met;
  summary.score = score(summary.grade, scenario.bars);
  return summary;
}

std::vector<PhaseFacts> facts_of(const Scenario& scenario, bool explain) {
  std::vector<PhaseFacts> facts;
  for (const Time phase : phases(scenario)) {
    const ProcessSpec frozen = frozen_at(scenario.process, phase);
    facts.push_back({optimum_of(frozen), {}});
    if (explain) facts.back().bottlenecks = bottlenecks(frozen, facts.back().optimum);
  }
  return facts;
}

void make_oracle_table(const std::string& file, const std::vector<std::string>& again, int threads,
                       const std::function<void(const std::string&)>& report) {
  const std::vector<FrozenPhase> worlds = all_worlds();
  std::vector<std::string> rows(worlds.size());
  std::mutex reporting;
  in_parallel(worlds.size(), threads, [&](std::size_t i) {
    const FrozenPhase& world = worlds[i];
    const bool anew = again.empty() || !is_in_table(world.frozen) ||
                      std::ranges::any_of(again, [&](const std::string& id) { return world.name.starts_with(id); });
    rows[i] = table_row(world.frozen, anew ? search(world.frozen) : optimum_of(world.frozen), world.name);
    const std::lock_guard lock(reporting);
    report(rows[i]);
  });
  std::ofstream out(file);
  out << "// Made by penstock-scorecard --make-oracle: hash of the world, elements/s, bytes, CPU seconds per element, "
         "settings.\n";
  for (const std::string& row : rows) out << row;
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

std::vector<Summary> sit(const std::vector<Scenario>& scenarios, const ExamSettings& settings,
                         const std::function<void(const Summary&)>& report) {
  std::vector<std::vector<PhaseFacts>> facts(scenarios.size());
  in_parallel(scenarios.size(), settings.threads,
              [&](std::size_t i) { facts[i] = facts_of(scenarios[i], settings.explain); });
  std::vector<Summary> summaries;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    std::vector<std::vector<PhaseFacts>> of_seed(
        static_cast<std::size_t>(std::max(settings.seeds, settings.baseline_seeds)));
    in_parallel(of_seed.size(), settings.threads,
                [&](std::size_t seed) { of_seed[seed] = paired(scenarios[i], facts[i], seed + 1); });
    for (const std::string& policy : settings.policies) {
      std::vector<Grade> grades(
          static_cast<std::size_t>(policy == "penstock" ? settings.seeds : settings.baseline_seeds));
      in_parallel(grades.size(), settings.threads,
                  [&](std::size_t seed) { grades[seed] = grade(scenarios[i], of_seed[seed], policy, seed + 1); });
      summaries.push_back(summarise(scenarios[i], policy, grades));
      report(summaries.back());
    }
  }
  return summaries;
}

double score_of(const std::vector<Summary>& summaries) {
  double logs = 0;
  for (const Summary& each : summaries) logs += std::log(each.score);
  return summaries.empty() ? 0 : std::exp(logs / static_cast<double>(summaries.size()));
}

std::vector<std::string> beaten(const std::vector<Summary>& summaries, const std::string& policy) {
  std::map<std::string, double> own;
  for (const Summary& each : summaries) {
    if (each.policy == policy) own[each.scenario] = each.grade.x;
  }
  std::vector<std::string> lines;
  for (const Summary& each : summaries) {
    if (each.policy == policy || each.policy == "oracle" || !own.contains(each.scenario)) continue;
    if (own[each.scenario] < 0.97 * std::min(each.grade.x, 1.0)) lines.push_back(each.scenario + " by " + each.policy);
  }
  return lines;
}

std::pair<int, int> bars_met(const std::vector<Summary>& summaries) {
  std::map<std::string, bool> met;
  for (const Summary& each : summaries) {
    const auto place = met.emplace(each.scenario.substr(0, 3), true).first;
    place->second = place->second && each.bar_met;
  }
  const auto count = std::ranges::count_if(met, [](const auto& each) { return each.second; });
  return {static_cast<int>(count), static_cast<int>(met.size())};
}

}  // namespace penstock::exam
