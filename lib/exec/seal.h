// Sealing: what bodies answered becomes what travels on: failures get their place, fan-outs are spread, drops leave.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <typeinfo>

#include "lib/exec/body.h"
#include "lib/exec/group.h"
#include "lib/exec/stage_plan.h"

namespace penstock::exec {

struct Sealed {
  std::int64_t bytes = 0;    // of the results that have their slots; each is charged with its share
  std::int64_t folded = 0;   // of those that are still to get theirs (Group::folded), with the lists that they are in;
  std::int64_t hollow = 0;   // of such a list, the share of those that have left it
  std::int64_t largest = 0;  // that one input has become
  std::int64_t elements = 0;
  std::int64_t errors = 0;  // made here
  // the type of a result that may own memory which neither bytes_of nor a hint tells
  const std::type_info* unseen = nullptr;
  const std::type_info* unseen_part = nullptr;  // because of what it has of this type
};

// Right after `body` ran the group. `origin` names a source item; it is asked only for errors. Where elements have
// become many, so that there are more than `most` results, the rest stays in group.folded, as lists: a slot is several
// times as large as a number. Called again for those, when the results have left.
Sealed seal(Group& group, const StagePlan& plan, const Body& body, std::size_t most,
            const std::function<std::string(std::int64_t)>& origin);

}  // namespace penstock::exec
