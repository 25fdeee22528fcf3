// Which process this is: a run belongs to the one that first asked it for something. Its threads are not in a forked
// child, and its locks may be held there for ever, by threads that do not exist.
#pragma once

#include <cstdint>

#include <penstock/knob.h>

namespace penstock::runtime {

// 1 at first, and one more in each forked child. Costs one load: no system call, so it may be asked for every element.
std::uint32_t process_number() noexcept;

// Throws Error(failed_precondition) where the owner is not this process: before any lock, which a thread that does not
// exist here may hold.
void check_process(std::uint32_t owner);

// The same knob, refusing to be used in a forked child.
Knob of_this_process(Knob knob);

}  // namespace penstock::runtime
