#include "autotune/placement.h"

#include <algorithm>
#include <utility>

namespace penstock::autotune {
namespace {

constexpr double kBlockingShare =
    0.5;  // calls that wait for more than this part of the time in which they could run block
constexpr double kComputingShare = 0.8;      // that use the CPU for more than this part of it compute
constexpr std::int64_t kShortCall = 50'000;  // ns; shorter calls are not worth a thread of their own
// Looks at calls under way: as many asleep, where one that is awake takes two of them back. So calls wait for two
// thirds of their time at least; of calls that do for a fifth, four in a million looks say so.
constexpr std::int64_t kAsleep = 8, kAwake = 2;
constexpr std::int64_t kMostAsleep = 2 * kAsleep;  // eight looks that find it awake make a stage forget that it slept
constexpr std::int64_t kMostDoublings = 10;

}  // namespace

std::optional<int> Placement::wish(const StageSnapshot& now) {
  if (now.form_is_known) return std::nullopt;
  count_looks(now);
  const Kind kind = judge_samples(now);
  if (now.on_pool) return may_come_back(kind) ? std::optional(0) : std::nullopt;
  if (std::exchange(is_on_pool_, false)) proofs_ = 0;
  return asleep_ >= kAsleep || kind == Kind::blocks ? std::optional(1) : std::nullopt;
}

// By samples, but not while calls are seen asleep: of a pipe that is written to in bursts, eight quick reads in a row
// say nothing. And after each move to the pool they have to say so twice as often: there may be calls that wait only
// where they hold the permit that others need.
bool Placement::may_come_back(Kind kind) {
  if (!std::exchange(is_on_pool_, true)) ++moves_;
  if (asleep_ > 0 || kind == Kind::blocks) proofs_ = 0;
  if (asleep_ > 0 || kind != Kind::computes) return false;
  return ++proofs_ >= std::int64_t{1} << std::min(moves_ - 1, kMostDoublings);
}

void Placement::count_looks(const StageSnapshot& now) {
  const std::int64_t looks = now.looks - std::exchange(looks_, now.looks);
  const std::int64_t asleep = now.looks_asleep - std::exchange(looks_asleep_, now.looks_asleep);
  asleep_ = std::clamp<std::int64_t>(asleep_ + asleep - kAwake * (looks - asleep), 0, kMostAsleep);
}

Placement::Kind Placement::judge_samples(const StageSnapshot& now) {
  const std::int64_t samples = now.samples - samples_;
  if (samples < 2) return Kind::unknown;
  const auto cpu = static_cast<double>(now.sampled_cpu_ns - cpu_ns_);
  const double own = cpu + static_cast<double>(now.sampled_waiting_ns - waiting_ns_);
  const Kind kind = kind_of(samples, cpu, own);
  if (kind != Kind::unknown || samples >= 16) note(now);
  return kind;
}

// Time off the CPU alone proves nothing on a busy machine, where calls are preempted: a call that waits gives the CPU
// up by itself. By time, and not by calls: one of ten may be what the others wait behind.
Placement::Kind Placement::kind_of(std::int64_t samples, double cpu_ns, double own_ns) {
  const bool long_enough = own_ns > static_cast<double>(kShortCall * samples);
  if (long_enough && cpu_ns < (1 - kBlockingShare) * own_ns) return Kind::blocks;
  if (samples >= 8 && cpu_ns > kComputingShare * own_ns) return Kind::computes;
  return Kind::unknown;
}

void Placement::note(const StageSnapshot& now) {
  samples_ = now.samples;
  waiting_ns_ = now.sampled_waiting_ns;
  cpu_ns_ = now.sampled_cpu_ns;
}

}  // namespace penstock::autotune
