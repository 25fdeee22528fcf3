// A save point as bytes, in a checkpoint. All numbers are varints (lib/core/varint.h):
//
//   stages   a digest of the stages that it is of, four bytes: those of a run with other rewrites are others
//   errors   among what was delivered behind it
//   node     of the last stage:
//     inputs    how many, and of each
//       is_there  0: the beginning of the epoch; 1: a node follows
//       since     slots, and how many of them are errors
//     held      how many, and of each how many slots came behind it, as bits (lib/core/rice_code.h)
//     state     how many bytes, and these
#pragma once

#include <string>
#include <string_view>

#include "lib/exec/save_point.h"
#include "lib/exec/stage_plan.h"

namespace penstock::runtime {

// `behind`: the save point, and what was delivered since. How many slots that were stands elsewhere in the checkpoint.
std::string bytes_of(const exec::SavePoint::Input& behind, const exec::Plan& plan);

// No save point: it is of other stages, so a run with these has to be resumed without it. Error(data_loss): no run has
// written these bytes. Needs memory in proportion to them.
exec::SavePoint::Input save_point_of(std::string_view bytes, const exec::Plan& plan);

}  // namespace penstock::runtime
