// A scenario's pipeline on this machine.
#pragma once

#include <penstock/graph.h>

#include <memory>
#include <string>

#include "tests/exam/pipeline.h"
#include "tests/exam/real/real_world.h"
#include "tests/exam/scenario.h"

namespace penstock::exam {

// What stands in the way of running it for real; empty: nothing.
std::string not_in_real_mode(const Scenario& scenario);

// As pipeline_of(). Throws std::invalid_argument where not_in_real_mode() has an answer for it. `pictures`: a folder
// with images and its annotations, for chains of pictures alone.
graph::NodeRef real_pipeline_of(const ChainSpec& spec, const std::shared_ptr<RealWorld>& world,
                                const std::string& pictures);

}  // namespace penstock::exam
