// explain(): what Run::explain() says. Pure: the same facts give the same explanation.
#pragma once

#include <penstock/explanation.h>

#include "autotune/evidence.h"

namespace penstock::autotune {

Explanation explain(Facts facts);

}  // namespace penstock::autotune
