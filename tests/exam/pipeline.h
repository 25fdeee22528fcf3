// A scenario's chain as a pipeline of the public API, whose functions compute and wait in a World.
#pragma once

#include <penstock/graph.h>
#include <penstock/options.h>

#include <memory>

#include "tests/exam/world.h"

namespace penstock::exam {

// Endless. Stage i of the run is stage i of the chain, 0 the source; every knob that the chain leaves open is AUTOTUNE.
graph::NodeRef pipeline_of(const ChainSpec& spec, const std::shared_ptr<World>& world);

// Memory and blocking calls as the chain has them.
RunOptions run_options_of(const ChainSpec& spec);

}  // namespace penstock::exam
