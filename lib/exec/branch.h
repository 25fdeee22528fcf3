// Branch: what is known, while a tree is compiled, of what has been compiled last: from its source on, or from a merge
// on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <penstock/op.h>

#include "lib/exec/batch_ahead.h"
#include "lib/graph/positions.h"

namespace penstock::exec {

struct Branch {
  std::size_t segment = 0;
  std::size_t last = 0;                    // its last stage
  std::vector<std::int64_t> repeats = {};  // in the segment
  Tunable buffer = AUTOTUNE;               // asked for by a prefetch for the stage to come
  std::size_t last_borrower = 0;           // the last stage whose inputs may refer to values of the source; 0: none
  std::size_t maker = 0;  // the stage whose results the next op gets, in their order and all of them; 0: there is none
  int places_end = 0;     // the stage whose results the next op gets; those of stages before it have no place there
  BatchAhead ahead = {};  // what is known of the batch that they go to
  std::optional<graph::Positions> positions = {};  // it is these, and nothing else
  bool keeps_numbers = false;                      // as Plan's
};

}  // namespace penstock::exec
