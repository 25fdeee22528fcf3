// Who keeps a run that was given up from ending.
#pragma once

#include <string>
#include <vector>

#include <penstock/snapshot.h>

#include "lib/exec/stage_plan.h"

namespace penstock::runtime {

// That the stage's oldest call works on; there is such a call: "element 7 of the source ('cat.JPEG')".
std::string oldest_element(const StageSnapshot& stage, const exec::Plan& plan);

// A line for each stage whose function has not returned, with the element that it works on.
std::vector<std::string> stuck_calls(const Snapshot& snapshot, const exec::Plan& plan);

}  // namespace penstock::runtime
