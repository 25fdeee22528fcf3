// Whether a run may go on where a checkpoint stands.
#pragma once

#include <penstock/checkpoint.h>

#include "lib/exec/stage_plan.h"

namespace penstock::runtime {

// Before anything is read; passes are numbered from first_pass on (RunOptions::pass). Throws Error: failed_precondition
// where the checkpoint is of another pipeline, and says where the two differ first; data_loss where it stands behind
// the end of the input; invalid_argument where no run could have made it.
void check_can_resume(const Checkpoint& from, const exec::Plan& plan, std::uint32_t first_pass);

// In the middle of an epoch. Throws Error(failed_precondition) where elements come in any order: their number then does
// not tell which they were.
void check_has_place(const exec::Plan& plan);

}  // namespace penstock::runtime
