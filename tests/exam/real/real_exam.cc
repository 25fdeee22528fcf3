#include "tests/exam/real/real_exam.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "tests/exam/describe.h"
#include "tests/exam/real/machine_lock.h"
#include "tests/exam/real/real_pipeline.h"
#include "tests/exam/real/real_run.h"
#include "tests/exam/real/report.h"
#include "tests/exam/summary_json.h"

namespace penstock::exam {
namespace {

void print_line(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

std::string reason_to_skip(const Scenario& scenario, const RealSettings& settings) {
  if (std::string reason = not_in_real_mode(scenario); !reason.empty()) return reason;
  const bool needs_pictures = scenario.process.chains.front().pictures;
  if (needs_pictures && !std::filesystem::is_directory(settings.pictures))
    return "there is no folder " + settings.pictures + " (--pictures DIR)";
  return {};
}

void announce(const std::vector<Scenario>& scenarios, const RealSettings& settings) {
  double seconds = 0;
  for (const Scenario& scenario : scenarios) seconds += seconds_of(scenario, settings);
  std::fprintf(stderr, "%zu scenarios, %d rounds each, %.1f minutes if no round is discarded\n", scenarios.size(),
               settings.rounds, seconds / 60);
}

bool print_result(const std::string& policy, const std::vector<RealSummary>& all, bool json) {
  std::vector<Summary> own, shown;
  for (const RealSummary& each : all) {
    if (each.summary.policy != policy) continue;
    own.push_back(each.summary);
    if (each.is_shown) shown.push_back(each.summary);
  }
  const auto [met, scenarios] = bars_met(own);
  const bool gates = std::ranges::all_of(own, &Summary::gates_met);
  const nlohmann::ordered_json line = {{"policy", policy},      {"mode", "real"},  {"score", score_of(shown)},
                                       {"shown", shown.size()}, {"bars_met", met}, {"scenarios", scenarios},
                                       {"gates_met", gates}};
  if (json) {
    print_line(line.dump());
  } else {
    std::printf("%s: score %.3f over %zu runs that are shown, %d of %d bars, gates %s\n", policy.c_str(),
                score_of(shown), shown.size(), met, scenarios, gates ? "met" : "BROKEN");
  }
  return gates;
}

// In the order in which they happened.
void print_story(const RealRun& run) {
  constexpr std::size_t kTicks = 50;
  auto decision = run.decisions.begin();
  std::int64_t taken = 0;
  for (std::size_t i = kTicks - 1; i < run.record.samples.size(); i += kTicks) {
    const Sample& sample = run.record.samples[i];
    for (; decision != run.decisions.end() && decision->time_ns <= sample.time; ++decision)
      std::fputs(describe(*decision).c_str(), stdout);
    std::fputs(describe(sample, 2 * static_cast<double>(sample.taken - taken)).c_str(), stdout);
    taken = sample.taken;
  }
}

}  // namespace

std::vector<Scenario> those_that_can(const std::vector<Scenario>& scenarios, const RealSettings& settings) {
  std::vector<Scenario> some;
  for (const Scenario& scenario : scenarios) {
    const std::string reason = reason_to_skip(scenario, settings);
    if (reason.empty()) some.push_back(scenario);
    if (!reason.empty()) std::fprintf(stderr, "%s is left out: %s\n", scenario.id.c_str(), reason.c_str());
  }
  return some;
}

void print_real_decisions(const std::vector<Scenario>& scenarios, const RealSettings& settings) {
  for (const Scenario& plain : those_that_can(scenarios, settings)) {
    const Scenario scenario = as_played(plain, settings);
    const auto facts = facts_of(plain, false);
    std::printf("%s %s\n", scenario.id.c_str(), scenario.what.c_str());
    print_story(run_real(
        scenario, [&] { return policy_of(settings.policies.front(), scenario, facts); }, settings.pictures));
  }
}

const std::vector<std::string>& real_by_default() {
  static const std::vector<std::string> ids = {"S01", "S02", "S05", "S06", "S07", "S08", "S12", "S14", "S15", "S20"};
  return ids;
}

bool sit_real_exam(const std::vector<Scenario>& scenarios, const RealSettings& settings, bool json) {
  std::optional<MachineLock> lock;
  if (settings.is_judged()) lock.emplace(MachineLock::usual_file());
  const std::vector<Scenario> some = those_that_can(scenarios, settings);
  announce(some, settings);
  std::vector<RealSummary> summaries;
  bool good = true;
  for (const Scenario& scenario : some) {
    const auto report = [&](const RoundRow& row) {
      good = good && row.grade.broken.empty();
      print_line(json ? json_of(row, settings.is_judged()) : text_of(row, settings.is_judged()));
    };
    for (const RealSummary& summary : sit_real(scenario, settings, report)) {
      if (settings.is_judged()) print_line(json ? json_of(summary) : text_of(summary));
      summaries.push_back(summary);
    }
  }
  if (!settings.is_judged()) return good;
  for (const std::string& policy : settings.policies) good = print_result(policy, summaries, json) && good;
  return good;
}

}  // namespace penstock::exam
