// A thread that computes.
#pragma once

#include <cstdint>

#include "lib/core/clock.h"

namespace penstock::testing {

// Takes so much CPU time of the calling thread.
inline void burn(std::int64_t nanoseconds) {
  const std::int64_t end = thread_cpu_ns() + nanoseconds;
  while (thread_cpu_ns() < end) {
  }
}

}  // namespace penstock::testing
