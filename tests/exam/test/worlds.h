// Small worlds for the tests.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "autotune/policy.h"
#include "tests/exam/simulated_process.h"
#include "tests/exam/scenario.h"

namespace penstock::exam {

inline StageSpec waiting(double ms) {
  StageSpec stage;
  stage.name = "waiting";
  stage.form = StageSpec::Form::blocks;
  stage.blocked = Distribution::constant(ms * kMs);
  return stage;
}

inline StageSpec computing(double ms) {
  StageSpec stage;
  stage.name = "computing";
  stage.cpu = Distribution::constant(ms * kMs);
  return stage;
}

inline ProcessSpec process_of(std::vector<StageSpec> stages) {
  ProcessSpec process;
  process.chains.emplace_back().stages = std::move(stages);
  return process;
}

// One of the exam's.
inline Scenario scenario_named(const std::string& id) {
  for (Scenario& scenario : all_scenarios()) {
    if (scenario.id == id) return std::move(scenario);
  }
  throw std::invalid_argument("there is no scenario " + id);
}

// With penstock's controller. Where it stands it stays: its parts point to it.
inline std::unique_ptr<SimulatedProcess> tuned(const ProcessSpec& spec, std::uint64_t seed = 1) {
  auto process = std::make_unique<SimulatedProcess>(spec, seed);
  process->run(0).steer(autotune::default_policy());
  return process;
}

// Elements/s over the seconds after the first.
inline double rate_of(SimulatedProcess& process, Time seconds, std::size_t chain = 0) {
  process.run_until(kSecond);
  const auto before = process.run(chain).taken();
  process.run_until((1 + seconds) * kSecond);
  return static_cast<double>(process.run(chain).taken() - before) / static_cast<double>(seconds);
}

}  // namespace penstock::exam
