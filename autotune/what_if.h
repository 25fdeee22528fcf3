// What if: what changes would bring, by the bounds.
#pragma once

#include <vector>

#include <penstock/explanation.h>

#include "autotune/evidence.h"

namespace penstock::autotune {

// One more core; and what would move this bottleneck.
std::vector<Explanation::WhatIf> what_ifs(const Evidence& evidence, const Explanation::Bottleneck& bottleneck);

}  // namespace penstock::autotune
