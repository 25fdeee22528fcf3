#include "autotune/placement.h"

namespace penstock::autotune {
namespace {

constexpr double kBlockingShare = 0.5;       // a call that is off the CPU for more than half of its time blocks
constexpr double kComputingShare = 0.8;      // on the CPU for more than this: it computes
constexpr std::int64_t kShortCall = 50'000;  // ns; shorter calls are not worth a thread of their own

}  // namespace

// Time off the CPU alone proves nothing on a busy machine, where calls are preempted: a call that waits gives the CPU up by itself.
std::optional<int> Placement::wish(const StageSnapshot& now) {
  const std::int64_t samples = now.samples - samples_;
  if (now.form_is_known || !now.parallel || samples < 2) return std::nullopt;
  const auto wall = static_cast<double>(now.sampled_wall_ns - wall_ns_);
  const auto cpu = static_cast<double>(now.sampled_cpu_ns - cpu_ns_);
  const bool long_enough = wall / static_cast<double>(samples) > kShortCall;
  const bool waits = 2 * (now.samples_that_waited - waited_) > samples;
  const bool blocks = long_enough && waits && cpu < (1 - kBlockingShare) * wall;
  const bool computes = samples >= 8 && (!waits || cpu > kComputingShare * wall);
  if (blocks || computes || samples >= 16) note(now);
  if (!now.on_pool && blocks) return 1;
  if (now.on_pool && computes) return 0;
  return std::nullopt;
}

void Placement::note(const StageSnapshot& now) {
  samples_ = now.samples;
  waited_ = now.samples_that_waited;
  wall_ns_ = now.sampled_wall_ns;
  cpu_ns_ = now.sampled_cpu_ns;
}

}  // namespace penstock::autotune
