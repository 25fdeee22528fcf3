// Scenarios that nobody has thought of: graphs and constants drawn at random. The controller must do well in them, too.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/exam/grade.h"
#include "tests/exam/scenario.h"

namespace penstock::exam {

// The same number gives the same scenario: 1 to 16 cores, 1 to 5 stages and those of a second branch, times of 2 to 500
// ms for calls that wait, cv 0 to 2, devices, fan-out, batches, zip, little memory, all kinds of consumers, two runs at
// once. Its world never changes.
Scenario random_scenario(std::uint64_t number);

struct RandomResult {
  double x = 0;                     // rate / that of the oracle's settings, in the same seed, over the last half
  std::vector<std::string> broken;  // gates
};

RandomResult sit_random(const Scenario& scenario, const Optimum& optimum, const std::string& policy,
                        std::uint64_t seed);

}  // namespace penstock::exam
