// Error elements: what a failure becomes, with its place, so that it can travel on.
#pragma once

#include <cstdint>
#include <functional>
#include <typeinfo>

#include <penstock/op.h>

#include "lib/exec/stage_plan.h"

namespace penstock::exec {

// Tells what an element was made of; asked only for errors.
using ItemOf = std::function<SourceItem(const Stamp&)>;

// Of a failed slot. `ordinal`: which input of the op failed in its pass, -1: none. If there is no memory for the place,
// the error stays what it was.
void make_error(Slot& slot, const StageLabel& label, std::int64_t ordinal, const ItemOf& item_of) noexcept;

// Error(invalid_argument) for an element of another type: whoever gets it would read memory as what it is not.
void check_type(const Slot& slot, const std::type_info& wanted);

}  // namespace penstock::exec
