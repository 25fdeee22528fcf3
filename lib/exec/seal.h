// Sealing: what bodies answered becomes what travels on: failures get their place, fan-outs are spread, drops leave.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lib/exec/body.h"
#include "lib/exec/group.h"
#include "lib/exec/stage_plan.h"

namespace penstock::exec {

struct Sealed {
  std::int64_t bytes = 0;    // of all results; each slot is charged with its share
  std::int64_t largest = 0;
  std::int64_t elements = 0;
  std::int64_t errors = 0;   // made here
};

// Right after `body` ran the group. `origin` names a source item; it is asked only for errors.
Sealed seal(Group& group, const StagePlan& plan, const Body& body,
            const std::function<std::string(std::int64_t)>& origin);

}  // namespace penstock::exec
