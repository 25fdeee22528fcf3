// Sealing: what bodies answered becomes what travels on: failures get their place, fan-outs are spread, drops leave.
#pragma once

#include <cstdint>
#include <typeinfo>

#include "lib/exec/body.h"
#include "lib/exec/error_element.h"
#include "lib/exec/group.h"
#include "lib/exec/stage_plan.h"

namespace penstock::exec {

struct Sealed {
  std::int64_t bytes = 0;    // of the results that have their slots: the sum of their Slot::bytes()
  std::int64_t folded = 0;   // of the results without slots (Group::folded), and of the lists that they are in
  std::int64_t hollow = 0;   // of `folded`: of the list itself, the share of the results that have left it
  std::int64_t largest = 0;  // bytes of all results of one input, at most
  std::int64_t elements = 0;
  std::int64_t errors = 0;  // made here
  // the type of a result that may own memory which neither bytes_of nor a hint tells
  const std::type_info* unseen = nullptr;
  const std::type_info* unseen_part = nullptr;  // because of what it has of this type
};

// Called right after `body` ran the group. `item` tells what an element was made of; it is asked only for errors. At
// most `most` results get slots. Where elements have become more, the rest stays in group.folded, as lists, since a
// slot is several times as large as a number. Called again for the rest when the results before have left.
Sealed seal(Group& group, const StagePlan& plan, const Body& body, std::size_t most, const ItemOf& item);

}  // namespace penstock::exec
