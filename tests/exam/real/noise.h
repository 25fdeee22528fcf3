// Whether the machine was ours alone while a round was measured. On a shared one it often is not, and figures of such
// rounds mean nothing.
#pragma once

#include <string>
#include <vector>

namespace penstock::exam {

inline constexpr double kSpinMayMove = 0.05;     // of its shortest time
inline constexpr double kForeignCpuMost = 0.05;  // of all CPUs

// What was seen of a round.
struct RoundNoise {
  std::vector<double> spins_s;      // the same arithmetic, timed before and after each run
  std::vector<double> foreign_cpu;  // of each run: CPU time of others, as a share of all CPUs' time
};

// Why the round counts for nothing; empty: it counts.
std::string reason_to_discard(const RoundNoise& noise);

// Seconds that a fixed piece of arithmetic takes: the middle one of five tries of some 10 ms.
double time_fixed_spin();

}  // namespace penstock::exam
