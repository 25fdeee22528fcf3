// StageTuner: what is wanted.
#include <algorithm>
#include <cmath>

#include "autotune/numbers.h"
#include "autotune/stage_tuner.h"

namespace penstock::autotune {
namespace {

constexpr double kLargestJump = 8;                     // times as many calls, by one sample;
constexpr double kLargestJumpOfFew = 4;                // of less than 16, whose first sample is of few calls
constexpr double kFewerCalls = 0.8, kMoreCalls = 1.3;  // probes: smaller steps would drown in noise
constexpr double kFarFewerCalls = 0.6;                 // of many, until that was once too few: they may be far too many
constexpr double kLeastMore = 1.1;  // where a limit is near: less could not bring the twentieth that is asked for
constexpr std::int64_t kMany = 16;  // calls
constexpr std::int64_t kStartAtMost = 64;  // calls, before the first has finished

// Of the calls there are, what is left when fewer are worth a change.
double least_fall(double calm_s) {
  if (calm_s > 60) return 0.5;
  return calm_s > 10 ? 0.7 : 0.85;
}

}  // namespace

std::optional<Wish> StageTuner::wish(const StageSnapshot& stage, const Traffic& traffic, const CallRange& range,
                                     bool may_probe) {
  if (stage.parallelism > range.most) return within(range);
  if (!known_) return slow_start(stage, traffic, range.most);
  if (verdict_) {
    const Wish wish = *verdict_;
    verdict_.reset();
    return wish;
  }
  if (probe_ || now_s_ < settled_s_) return std::nullopt;
  const auto wish = towards(target(traffic), stage, traffic, range);
  if (wish || !may_probe) return wish;
  return next_probe(stage, traffic, range);
}

// Whatever is being tried: a limit holds at once.
Wish StageTuner::within(const CallRange& range) {
  probe_.reset();
  verdict_.reset();
  return {range.most, range.reason};
}

std::optional<Wish> StageTuner::slow_start(const StageSnapshot& stage, const Traffic& traffic,
                                           std::int64_t most) const {
  const bool full = stage.running >= stage.parallelism;
  if (!full || stage.completed > 0 || !traffic.consumer_waits() || stage.waits_for_memory) return std::nullopt;
  const std::int64_t calls = std::min({2 * stage.parallelism, kStartAtMost, most});
  if (calls <= stage.parallelism) return std::nullopt;
  return Wish{calls, Reason::slow_start};
}

// Little's law and square-root staffing; at a device's limit, a quarter more than it serves at once.
double StageTuner::target(const Traffic& traffic) const {
  const double wanted = traffic.attainable * traffic.visits[index_];
  if (ceiling_ < kUnbounded && ceiling_ <= wanted * 1.001) return 1.25 * ceiling_ * call_s() + 1;
  if (!(wanted < kUnbounded)) return kUnbounded;
  const double calls = wanted * call_s();
  return integral_ * (calls + std::sqrt(calls));
}

// Up at once, down when several samples ask for it: what is missing costs speed, what is left over only memory. The
// longer all is calm, the less a difference that noise explains is worth a change.
std::optional<Wish> StageTuner::towards(double target, const StageSnapshot& stage, const Traffic& traffic,
                                        const CallRange& range) {
  const std::int64_t most = range.most;
  const std::int64_t now = stage.parallelism;
  const double limit = std::min(as_double(held_ > 0 ? std::min(held_, most) : most),
                                largest_jump(traffic) * as_double(std::max(seen_calls_, std::int64_t{1})));
  const auto calls = static_cast<std::int64_t>(std::ceil(std::min(target, limit)));
  if (!is_worth_more(calls, now, traffic)) return fewer(calls, stage, traffic);
  fewer_in_a_row_ = 0;
  const bool useful = traffic.consumer_waits() || stage.running >= now;
  if (!useful || stage.waits_for_memory) return std::nullopt;
  return Wish{calls, ceiling_ < kUnbounded ? Reason::knee : integral_ > 1.2 ? Reason::integral : Reason::feed_forward};
}

bool StageTuner::is_worth_more(std::int64_t calls, std::int64_t now, const Traffic& traffic) const {
  const bool may_help = traffic.consumer_waits() && !traffic.cpu_bound();
  const double least_rise = calm_s() > 60 ? (may_help ? 1.3 : 1.6) : calm_s() > 10 ? 1.2 : 1.1;
  return calls > now && as_double(calls) >= least_rise * as_double(now);
}

std::optional<Wish> StageTuner::fewer(std::int64_t calls, const StageSnapshot& stage, const Traffic& traffic) {
  const std::int64_t now = stage.parallelism;
  if (!fresh_) return std::nullopt;
  if (as_double(calls) > least_fall(calm_s()) * as_double(now) || calls >= now) {
    fewer_in_a_row_ = 0;
    return std::nullopt;
  }
  if (++fewer_in_a_row_ < (ceiling_ < kUnbounded ? 1 : 3)) return std::nullopt;
  if (ceiling_ < kUnbounded) return Wish{calls, Reason::knee};
  return Wish{traffic.consumer_is_served() ? calls : std::max(calls, (now + 1) / 2), Reason::idle};
}

// From what has been seen of as many calls as there were: a device may be at its limit with the next one.
double StageTuner::largest_jump(const Traffic& traffic) const {
  if (!traffic.all_known) return 2;
  const bool changed = alarmed_s_ > 0 && relearn_ > 0;  // all that has been seen is of another world
  return seen_calls_ < 16 && !changed ? kLargestJumpOfFew : kLargestJump;
}

bool StageTuner::is_bottleneck(const Traffic& traffic) const {
  return traffic.consumer_waits() && steady_.cpu_share < 0.9 && steady_.completed > 0 && steady_.busy > kBusy;
}

std::optional<Wish> StageTuner::next_probe(const StageSnapshot& stage, const Traffic& traffic, const CallRange& range) {
  if (!fresh_ || !is_bottleneck(traffic) || steady_.completed < completions_to_compare(stage)) return std::nullopt;
  const std::int64_t now = stage.parallelism;
  if (const auto probe = trim_probe(now, range)) return probe;
  return up_probe(now, traffic, range);
}

std::optional<Wish> StageTuner::trim_probe(std::int64_t now, const CallRange& range) {
  const auto far_fewer = static_cast<std::int64_t>(kFarFewerCalls * as_double(now));
  const bool may_be_far = now > kMany && !trim_failed_ && far_fewer >= range.least;
  const auto fewer = may_be_far ? far_fewer : static_cast<std::int64_t>(kFewerCalls * as_double(now));
  if (now_s_ < trim_due_s_ || fewer < range.least || fewer >= now) return std::nullopt;
  best_rate_ = std::max(best_rate_, steady_.rate);
  probe_ = Probe{now, steady_.rate, steady_.wait_share, true};
  return Wish{fewer, Reason::trim_probe};
}

// Where something is known to hold it.
std::optional<Wish> StageTuner::up_probe(std::int64_t now, const Traffic& traffic, const CallRange& range) {
  const auto more = std::min(range.most, static_cast<std::int64_t>(std::ceil(kMoreCalls * as_double(now))));
  const bool is_held = held_ > 0 || ceiling_ < kUnbounded;
  const bool is_worth_it = traffic.wait_share > 0.05 && as_double(more) >= kLeastMore * as_double(now);
  if (!is_held || now_s_ < raise_due_s_ || !is_worth_it) return std::nullopt;
  probe_ = Probe{now, steady_.rate, steady_.wait_share, false};
  return Wish{more, Reason::up_probe};
}

}  // namespace penstock::autotune
