// Real time beside virtual time: what the simulated host leaves out, as one number for each scenario.
#pragma once

#include <vector>

#include "tests/exam/real/rounds.h"

namespace penstock::exam {

// Runs each of them with the first policy, `rounds` times on this machine and once in virtual time, with the same
// elements; prints both rates from the first second on, the real one as the median.
void print_beside(const std::vector<Scenario>& scenarios, const RealSettings& settings, bool json);

}  // namespace penstock::exam
