// What this process has used.
#pragma once

#include <cstdint>

namespace penstock::bench {

// Sets the peak of resident memory back to what is resident now, where the system allows it (Linux:
// /proc/self/clear_refs).
void reset_peak_memory();
std::int64_t peak_memory_bytes();  // since then

// Calls of operator new in all threads since the process began. Counted by allocations.cc, which replaces it.
std::int64_t allocation_count();

}  // namespace penstock::bench
