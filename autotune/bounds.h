// Bounds: what keeps a pipeline from delivering more, each as a rate. The smallest one is the bottleneck, if the model
// is right: bottleneck.h looks at what is really in use.
#pragma once

#include <cstdint>
#include <vector>

#include <penstock/explanation.h>
#include <penstock/snapshot.h>

#include "autotune/limits.h"
#include "autotune/model.h"

namespace penstock::autotune {

// One upper bound of the delivered rate.
struct RateBound {
  using Kind = Limit;
  Kind kind = Kind::cpu;     // cpu, serial, parallel, ceiling, memory, consumer
  int stage = -1;            // -1: cpu, memory and consumer
  double rate = kUnbounded;  // delivered elements/s; NaN: not measured
  std::int64_t samples = 0;
};

// All bounds, smallest first, unknown ones last. `limits` as Policy::limits() has them.
std::vector<RateBound> bounds_of(const Rates& rates, const Snapshot& now, const std::vector<StageLimits>& limits);

// Calls that a stage can have under way: as many as it may, as there are cores where they compute, and as a nest has
// datasets that give in turn.
double calls_at_once(const StageSnapshot& stage, double cpu_budget);

// Of a call, without the time that it was ready and had no core: k + w. All of it where no clock was read.
double needed_time(const StageRates& rates);

}  // namespace penstock::autotune
