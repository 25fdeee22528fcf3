// What a user should know about a run's memory.
#pragma once

#include <string>

#include <penstock/snapshot.h>

namespace penstock::runtime {

// Empty unless the ops of the run must hold more than its budget allows. It runs all the same, but reads nothing ahead.
std::string memory_warning(const Snapshot& snapshot);

// Empty unless the stage gives elements that may own memory which nobody can tell: the budget does not hold for them.
std::string unseen_memory_warning(const StageSnapshot& stage);

}  // namespace penstock::runtime
