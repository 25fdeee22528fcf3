// The list of ops that the suite checks.
#pragma once

#include <vector>

#include "tests/conformance/case.h"

namespace conformance {

std::vector<Case> all_ops();

}  // namespace conformance
