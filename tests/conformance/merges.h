// Ops with several inputs in the suite: what each makes of two branches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/conformance/case.h"

namespace conformance {

std::vector<Case> all_merges();

// The number that a branch begins with, so that its tokens tell where they come from.
inline std::int64_t first_of_branch(std::size_t number) { return 1000 * static_cast<std::int64_t>(number); }

}  // namespace conformance
