// A save point as bytes, in a checkpoint. All numbers are varints (lib/core/varint.h):
//
//   stages   a digest of the stages that it is of, four bytes: those of a run with other rewrites are others
//   node     of the last stage:
//     inputs    how many, and of each
//       is_there  0: the beginning of the epoch; 1: a node follows
//       since
//     held      how many, and of each how many slots came behind it, as bits (lib/core/rice_code.h)
//     state     how many bytes, and these
#pragma once

#include <string>
#include <string_view>

#include "lib/exec/save_point.h"
#include "lib/exec/stage_plan.h"

namespace penstock::runtime {

std::string bytes_of(const exec::SavePoint& point, const exec::Plan& plan);

// Null: it is of other stages, so a run with these has to be resumed without it. Error(data_loss): no run has written
// these bytes. Needs memory in proportion to them.
exec::SavePointRef save_point_of(std::string_view bytes, const exec::Plan& plan);

}  // namespace penstock::runtime
