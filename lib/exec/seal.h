// Sealing: what bodies answered becomes what travels on: failures get their place, fan-outs are spread, drops leave.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lib/exec/packet.h"
#include "lib/exec/stage_plan.h"

namespace penstock::exec {

struct Sealed {
  std::int64_t bytes = 0;    // of all results; each slot is charged with its share
  std::int64_t largest = 0;
  std::int64_t errors = 0;   // made here
  std::int64_t elements = 0;
};

// `origin` names a source item; it is asked only for errors. first_ordinal: of the first slot among the op's inputs.
Sealed seal(Slots& slots, const StagePlan& plan, std::int64_t first_ordinal,
            const std::function<std::string(std::int64_t)>& origin);

}  // namespace penstock::exec
