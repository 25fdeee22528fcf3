// What a run can deliver at most, by its constants alone.
#pragma once

#include "tests/exam/spec.h"

namespace penstock::exam {

// Elements/s that the cores, threads, devices, open datasets and serial stages of a chain allow, whatever the consumer
// wants.
double rate_bound(const ChainSpec& chain, double cores);

// Elements/s that its consumer takes at first, if it never waits.
double demand_of(const ChainSpec& chain);

// Elements of a stage (1 is the first behind the source) for one that is delivered: that come to it, or that the
// datasets of a nest have.
double visits_of(const ChainSpec& chain, int stage);

}  // namespace penstock::exam
