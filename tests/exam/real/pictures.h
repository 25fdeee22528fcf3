// The chain of pictures, with real files: read a JPEG and its XML, decode, cut the boxes out.
#pragma once

#include <penstock/graph.h>

#include <memory>
#include <string>

#include "tests/exam/real/real_world.h"
#include "tests/exam/spec.h"

namespace penstock::exam {

// Stages 1 to 3 of the spec, on the files of `folder` over and over; their annotations lie in `folder`-annotations. The
// reader waits, beyond what the file takes, for what the spec's time for it grows by: 20 ms where it is 0.2 ms x 101.
// Throws Error where there are no files.
graph::NodeRef picture_pipeline(const ChainSpec& spec, const std::shared_ptr<RealWorld>& world,
                                const std::string& folder);

}  // namespace penstock::exam
