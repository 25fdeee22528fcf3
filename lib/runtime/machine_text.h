// What kind of machine this is: two of the same kind need the same tuning.
#pragma once

#include <string>

namespace penstock::runtime {

// The model of the CPU and the size of the memory, as "model name : AMD EPYC, 24 GiB". What cannot be read is left out.
// Throws nothing but std::bad_alloc; ~0.1 ms. `root` stands in front of /proc: a test's folder.
std::string machine_text(const std::string& root = "");

}  // namespace penstock::runtime
