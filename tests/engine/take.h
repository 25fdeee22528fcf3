// For tests that move knobs.
#pragma once

#include "tests/engine/support.h"

namespace penstock::testing {

// What was admitted before a change has left once this many elements have come.
inline void take(IntegerRun& run, int count) {
  for (int i = 0; i < count; ++i) run.next();
}

}  // namespace penstock::testing
