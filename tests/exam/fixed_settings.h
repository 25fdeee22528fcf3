// The oracle as a policy: at the beginning of each phase it sets the knobs as they are best, and leaves them.
#pragma once

#include <memory>
#include <vector>

#include "autotune/policy.h"
#include "tests/exam/oracle.h"

namespace penstock::exam {

// For one of a process's runs. `begins`: of the phases, the first one 0.
std::unique_ptr<autotune::Policy> fixed_settings(int chain, std::vector<Time> begins, std::vector<Optimum> optima);

}  // namespace penstock::exam
