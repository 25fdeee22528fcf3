// The exam in real time, from the first scenario to the last line.
#pragma once

#include <vector>

#include "tests/exam/real/rounds.h"

namespace penstock::exam {

// Those that are to be shown on real threads (20 take too long).
const std::vector<std::string>& real_by_default();

// The others are named on stderr, with the reason.
std::vector<Scenario> those_that_can(const std::vector<Scenario>& scenarios, const RealSettings& settings);

// Prints every round, what came of each scenario, and the result, to stdout; what is left out and why, to stderr. Holds
// the machine's lock where the runs are judged, and throws std::runtime_error where another program has it. True: no
// gate was broken.
bool sit_real_exam(const std::vector<Scenario>& scenarios, const RealSettings& settings, bool json);

// One run of each with the first policy: its moves of knobs, the last 256, beside what came of them every half second.
void print_real_decisions(const std::vector<Scenario>& scenarios, const RealSettings& settings);

}  // namespace penstock::exam
