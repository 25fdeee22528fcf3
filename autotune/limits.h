// StageLimits: what keeps a stage from going faster, as far as its policy knows.
#pragma once

#include <limits>

#include <penstock/explanation.h>

namespace penstock::autotune {

struct StageLimits {
  // Elements/s that no more calls get out of its device or lock, as far as probes have shown.
  double ceiling = std::numeric_limits<double>::infinity();
  Hold calls = Hold::unknown;   // why there are no more at once: open_io or memory
  Hold window = Hold::unknown;  // why it is no wider: memory or knob_limit

  bool operator==(const StageLimits&) const = default;
};

}  // namespace penstock::autotune
