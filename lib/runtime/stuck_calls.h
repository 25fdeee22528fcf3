// Who keeps a run that was given up from ending.
#pragma once

#include <string>
#include <vector>

#include <penstock/snapshot.h>

#include "lib/exec/stage_plan.h"

namespace penstock::runtime {

// A line for each stage whose function has not returned, with the element that it works on.
std::vector<std::string> stuck_calls(const Snapshot& snapshot, const exec::Plan& plan);

}  // namespace penstock::runtime
