// CallSample: what the clocks of its thread have told of one call. They are read for a few calls only.
//
// Thread safety: the running thread's; with the stage's lock held, before and after the call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "lib/core/call_clock.h"

namespace penstock::exec {

struct CallSample {
  static constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();

  bool is_taken = false;
  std::int64_t asking_ns = 0;  // how much of the time since the call began it took to read the clocks
  // on a CPU, or ready to run; kAlways: it never gave the CPU up by itself, as far as is known
  std::int64_t awake_ns = kAlways;

  void note(const ThreadUse& use) noexcept { awake_ns = use.waits > 0 ? use.cpu_ns + use.delay_ns : kAlways; }
  // How long the call has waited, if it has lasted so long.
  std::int64_t waited_ns(std::int64_t lasted_ns) const noexcept {
    return std::max<std::int64_t>(lasted_ns - awake_ns, 0);
  }
};

}  // namespace penstock::exec
