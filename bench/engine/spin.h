// Work that takes a given time of a core, and nothing else.
#pragma once

#include <cstdint>

#include "lib/core/clock.h"

namespace penstock::bench {

inline void spin(std::int64_t ns) {
  const std::int64_t until = now_ns() + ns;
  while (now_ns() < until) {
  }
}

}  // namespace penstock::bench
