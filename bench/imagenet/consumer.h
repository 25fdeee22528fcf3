// The training step that --step-time plays.
#pragma once

#include <chrono>

namespace penstock::bench {

// Takes `time`, `cpu` of it (0..1) computing on this thread, the rest asleep. Returns early after Ctrl-C.
void play_step(std::chrono::nanoseconds time, double cpu);

}  // namespace penstock::bench
