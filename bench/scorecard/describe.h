// A plant in words.
#pragma once

#include <string>

#include "bench/scorecard/spec.h"

namespace penstock::scorecard {

// Several lines: host, stages, consumer.
std::string describe(const PlantSpec& plant);

}  // namespace penstock::scorecard
