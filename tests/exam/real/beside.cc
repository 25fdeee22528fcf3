#include "tests/exam/real/beside.h"

#include <algorithm>
#include <cstdio>

#include "tests/exam/grade.h"
#include "tests/exam/real/real_exam.h"
#include "tests/exam/real/real_run.h"
#include "tests/exam/simulated_process.h"
#include "tests/exam/summary_json.h"

namespace penstock::exam {
namespace {

double rate_of(const std::vector<Sample>& samples) {
  const auto first = std::ranges::find_if(samples, [](const Sample& each) { return each.time >= kSecond; });
  if (first == samples.end() || samples.back().time <= first->time) return 0;
  return static_cast<double>(samples.back().taken - first->taken) * 1e9 /
         static_cast<double>(samples.back().time - first->time);
}

double in_virtual_time(const Scenario& scenario, std::unique_ptr<autotune::Policy> policy) {
  SimulatedProcess process(scenario.process, 0);  // the elements of real runs
  process.run(0).steer(std::move(policy));
  process.run_until(scenario.duration);
  return rate_of(process.run(0).samples());
}

double in_real_time(const Scenario& scenario, const runtime::PolicyMaker& make_policy, const RealSettings& settings) {
  std::vector<double> rates;
  for (int round = 0; round < settings.rounds; ++round)
    rates.push_back(rate_of(run_real(scenario, make_policy, settings.pictures).record.samples));
  std::ranges::sort(rates);
  return rates[rates.size() / 2];
}

}  // namespace

void print_beside(const std::vector<Scenario>& scenarios, const RealSettings& settings, bool json) {
  for (const Scenario& plain : those_that_can(scenarios, settings)) {
    const Scenario scenario = as_played(plain, settings);
    const auto facts = facts_of(plain, false);
    const auto make_policy = [&] { return policy_of(settings.policies.front(), scenario, facts); };
    const double simulated = in_virtual_time(scenario, make_policy()),
                 real = in_real_time(scenario, make_policy, settings);
    const nlohmann::ordered_json line = {{"scenario", scenario.id},
                                         {"real_per_s", real},
                                         {"virtual_per_s", simulated},
                                         {"virtual_to_real", simulated / real}};
    if (json) {
      std::printf("%s\n", line.dump().c_str());
    } else {
      std::printf("%-5s real %9.1f/s, virtual %9.1f/s: %.3f\n", scenario.id.c_str(), real, simulated, simulated / real);
    }
    std::fflush(stdout);
  }
}

}  // namespace penstock::exam
