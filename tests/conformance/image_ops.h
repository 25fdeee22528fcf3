// The ops of ops/imagenet, one line each.
#pragma once

#include <vector>

#include "tests/conformance/case.h"

namespace conformance {

std::vector<Case> image_ops();

}  // namespace conformance
