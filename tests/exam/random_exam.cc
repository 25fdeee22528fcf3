// The exam in random scenarios.
#include <algorithm>
#include <mutex>

#include "tests/exam/exam.h"
#include "tests/exam/parallel.h"

namespace penstock::exam {
namespace {

// Beyond that the product of all settings has millions of members.
bool is_small(const ProcessSpec& process) {
  const auto count =
      std::ranges::count_if(process.chains.front().stages, [](const StageSpec& stage) { return !stage.serial; });
  return process.chains.size() == 1 && count <= 2;
}

std::uint64_t seed_of(const Scenario& scenario) { return std::stoull(scenario.id.substr(1)); }

}  // namespace

RandomSummary sit_random(const std::vector<Scenario>& scenarios, const std::string& policy, int threads,
                         const std::function<void(const Scenario&, const RandomResult&)>& report) {
  std::vector<double> ratios(scenarios.size());
  RandomSummary summary;
  std::mutex reporting;
  in_parallel(ratios.size(), threads, [&](std::size_t i) {
    const Scenario& scenario = scenarios[i];
    const RandomResult result = sit_random(scenario, search_rate(scenario.process), policy, seed_of(scenario));
    ratios[i] = result.x;
    const std::lock_guard lock(reporting);
    summary.gates_met = summary.gates_met && result.broken.empty();
    report(scenario, result);
  });
  std::ranges::sort(ratios);
  summary.scenarios = static_cast<int>(ratios.size());
  summary.median = ratios[ratios.size() / 2];
  summary.fifth = ratios[ratios.size() / 20];
  return summary;
}

double check_descent(int count, int threads, const std::function<void(const std::string&, double)>& report) {
  std::vector<Scenario> small;
  for (int number = 1; number <= count; ++number) {
    const Scenario scenario = random_scenario(static_cast<std::uint64_t>(number));
    if (is_small(scenario.process)) small.push_back(scenario);
  }
  const std::size_t some = std::min(small.size(), static_cast<std::size_t>(std::max(count / 20, 1)));
  double least = 1;
  std::mutex reporting;
  in_parallel(some, threads, [&](std::size_t i) {
    const double ratio = search(small[i].process).rate / search_all(small[i].process).rate;
    const std::lock_guard lock(reporting);
    least = std::min(least, ratio);
    report(small[i].id, ratio);
  });
  return least;
}

}  // namespace penstock::exam
