// Bottleneck: which resource would have to be larger for more to be delivered. Told by what is in use, not by the model
// alone.
#pragma once

#include <penstock/explanation.h>

#include "autotune/evidence.h"

namespace penstock::autotune {

Explanation::Bottleneck bottleneck_of(const Evidence& evidence);

// Share of the time in which a stage was what later ones waited for: at work, or held up, with input there.
double holding_share(const Evidence& evidence, int stage);

}  // namespace penstock::autotune
