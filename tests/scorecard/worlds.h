// Small plants for the tests.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "autotune/policy.h"
#include "bench/scorecard/plant.h"
#include "bench/scorecard/scenario.h"

namespace penstock::scorecard {

inline constexpr double kMs = 1e6;

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

inline PlantSpec plant_of(std::vector<StageSpec> stages) {
  PlantSpec plant;
  plant.chains.emplace_back().stages = std::move(stages);
  return plant;
}

// One of the exam's.
inline Scenario scenario_named(const std::string& id) {
  for (Scenario& scenario : all_scenarios()) {
    if (scenario.id == id) return std::move(scenario);
  }
  throw std::invalid_argument("there is no scenario " + id);
}

// With penstock's controller. Where it stands it stays: its parts point to it.
inline std::unique_ptr<Plant> tuned(const PlantSpec& spec, std::uint64_t seed = 1) {
  auto plant = std::make_unique<Plant>(spec, seed);
  plant->chain(0).steer(autotune::default_policy());
  return plant;
}

// Elements/s over the seconds after the first.
inline double rate_of(Plant& plant, Time seconds, std::size_t chain = 0) {
  plant.run_until(kSecond);
  const auto before = plant.chain(chain).consumer().taken();
  plant.run_until((1 + seconds) * kSecond);
  return static_cast<double>(plant.chain(chain).consumer().taken() - before) / static_cast<double>(seconds);
}

}  // namespace penstock::scorecard
