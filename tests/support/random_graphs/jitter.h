// Uneven calls, so that results are ready in another order than they were asked for.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

#include "tests/support/random.h"
#include "tests/support/random_graphs/how.h"

namespace random_graphs {

using penstock::test::Random;

// Depends on the value alone: one call in eight sleeps, one in four lets others go first.
inline void jitter(const How& how, std::int64_t key) {
  if (how.jitter_us == 0) return;
  Random random(static_cast<std::uint64_t>(key));
  const std::int64_t kind = random.below(8);
  if (kind == 0) std::this_thread::sleep_for(std::chrono::microseconds(random.below(how.jitter_us)));
  if (kind == 1 || kind == 2) std::this_thread::yield();
}

}  // namespace random_graphs
