// StageLimits: what keeps a stage from going faster, as far as its policy knows.
#pragma once

#include <limits>

#include <penstock/explanation.h>

namespace penstock::autotune {

struct StageLimits {
  double ceiling = std::numeric_limits<double>::infinity();  // elements/s that no more calls get out of its device or lock: probes have shown it
  Hold calls = Hold::unknown;   // open_io or memory: why there are no more at once
  Hold window = Hold::unknown;  // memory: why it is no wider

  bool operator==(const StageLimits&) const = default;
};

}  // namespace penstock::autotune
