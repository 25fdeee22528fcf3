// lines, whose elements come from files: what it means is told here and not in a case of its own (tests/ops), which the
// random graphs would draw, too.
#pragma once

#include <vector>

#include "tests/conformance/case.h"

namespace conformance {

std::vector<Case> line_sources();

}  // namespace conformance
