// What a user should know about a run's memory.
#pragma once

#include <string>

#include <penstock/snapshot.h>

namespace penstock::runtime {

// Empty unless the ops of the run must hold more than its budget allows. It runs all the same, but reads nothing ahead.
std::string memory_warning(const Snapshot& snapshot);

}  // namespace penstock::runtime
