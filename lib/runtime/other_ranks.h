// A checkpoint of one rank, for another rank, of as many or of another number.
#pragma once

#include <memory>

#include <penstock/checkpoint.h>

#include "lib/graph/node.h"

namespace penstock::runtime {

// Where this rank stands when the rank that took `from` stands there, in a run that is resumed with this pipeline. It
// is `from` itself where the two pipelines are the same, or differ in more than their shard(world) and their batches:
// check_can_resume() says what of. Throws Error(failed_precondition) where they differ in that alone, and this rank
// cannot go on there: says why, and what to do.
std::shared_ptr<const Checkpoint> for_this_rank(std::shared_ptr<const Checkpoint> from, const graph::NodeRef& node);

}  // namespace penstock::runtime
