// A plant's chain as a pipeline of the public API that really waits and computes: the same stages in the same places, so that
// settings found on the plant can be set on it.
#pragma once

#include <penstock/graph.h>
#include <penstock/options.h>

#include <memory>
#include <string>

#include "bench/scorecard/real/work.h"
#include "bench/scorecard/scenario.h"

namespace penstock::scorecard {

// What stands in the way of running it for real; empty: nothing.
std::string not_in_real_mode(const Scenario& scenario);

// Endless. Stage i of the run is stage i of the plant, 0 the source; every knob that the plant leaves open is AUTOTUNE. Throws
// std::invalid_argument where not_in_real_mode() has an answer for it. `pictures`: a folder with images and its annotations, for
// chains of pictures alone.
graph::NodeRef pipeline_of(const ChainSpec& spec, const std::shared_ptr<RealWorld>& world, const std::string& pictures);

// Memory and blocking calls as the chain has them.
RunOptions run_options_of(const ChainSpec& spec);

}  // namespace penstock::scorecard
