// How long a scenario runs in real time. What is judged stays the same; only the waiting in between becomes shorter.
#pragma once

#include <vector>

#include "tests/exam/scenario.h"

namespace penstock::exam {

// As long as its bars need: 5 s for each phase, longer where a bar looks further.
Scenario shortened(const Scenario& scenario);

// No phase longer than that.
Scenario with_phases_at_most(const Scenario& scenario, Time most);

// One length for each phase. What changes at a phase's beginning does so at its new one.
Scenario with_phases(const Scenario& scenario, const std::vector<Time>& lengths);

}  // namespace penstock::exam
