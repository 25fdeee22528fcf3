// --explain: what each stage of a run did with its time, from one snapshot taken at the run's end.
#pragma once

#include <penstock/snapshot.h>

#include <string>

namespace penstock::bench {

// A table, a line each for the consumer and the memory, and one that says what was busy. A dash where nothing was measured.
std::string explain(const Snapshot& snapshot);

}  // namespace penstock::bench
