#include "tests/exam/real/noise.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "lib/core/clock.h"

namespace penstock::exam {
namespace {

constexpr int kSpinSteps = 4'000'000;

std::string text(const char* format, double is, double most) {
  char line[120];
  std::snprintf(line, sizeof line, format, 100 * is, 100 * most);
  return line;
}

double spin_once() {
  const std::int64_t start = now_ns();
  std::uint64_t state = 1;
  for (int i = 0; i < kSpinSteps; ++i) state = state * 6364136223846793005 + 1442695040888963407;
  volatile std::uint64_t kept = state;
  static_cast<void>(kept);
  return 1e-9 * static_cast<double>(now_ns() - start);
}

}  // namespace

std::string reason_to_discard(const RoundNoise& noise) {
  if (!noise.spins_s.empty()) {
    const auto [least, most] = std::ranges::minmax(noise.spins_s);
    const double moved = most / least - 1;
    if (moved > kSpinMayMove)
      return text("the fixed spin moved by %.1f %%, at most %.0f %% is allowed", moved, kSpinMayMove);
  }
  for (const double share : noise.foreign_cpu) {
    if (share > kForeignCpuMost)
      return text("others used %.1f %% of the CPUs, at most %.0f %% is allowed", share, kForeignCpuMost);
  }
  return {};
}

double time_fixed_spin() {
  std::array<double, 5> times{};
  for (double& time : times) time = spin_once();
  std::ranges::nth_element(times, times.begin() + 2);
  return times[2];
}

}  // namespace penstock::exam
