#include "autotune/stage_tuner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <penstock/service_times.h>

#include "autotune/numbers.h"

namespace penstock::autotune {
namespace {

constexpr double kSlower = 1.3;  // calls that take so much longer than before: something behind them is full
constexpr double kLargestIntegral = 4;
constexpr double kLongestPause = 240;               // s between probes that bring nothing
constexpr double kWeight = 0.2, kCalmWeight = 0.1;  // of a sample in an average
constexpr double kCalmLatencies = 4;                // of a window, once all is calm: less noise
constexpr double kClearFailure = 0.8;               // of the rate before: not noise, with 64 completions
// Of the rate, with fewer calls, and where such a probe has failed before: asked again and again, luck would say yes in
// the end.
constexpr double kKept = 0.96, kKeptOnceMore = 0.98;
constexpr double kTrimAfter = 1;         // s after a change
constexpr double kSmallError = 1. / 16;  // of a sample's mean: worth waiting for,
constexpr double kSoon = 0.1;            // s: if not for longer
constexpr double kLongestWindow = 1;     // s, where fewer completions do
constexpr double kLongestProbe = 1;      // s, where calls are not longer than that
constexpr int kPauses = 3;  // of the consumer, at which a window starts over; with more it would never be complete
constexpr double kSettledRate = 2;   // s, of a rate that is no luck
constexpr double kShortAge = 0.005;  // s: calls that short tell nothing by their age
constexpr double kGuard = 4;         // latencies after an increase of our own in which slower calls are its effect
constexpr double kFarSlower = 3;     // times the usual: worth a closer look
constexpr double kSlow = 1.6;        // times the mean, at least: what a median age tells of
// Times its age, that a call is expected to take: seen at any moment it has half of its time before it, on average, and
// calls too few cost more than calls too many, which the next sample takes back.
constexpr double kOfAnAge = 2.5;
constexpr double kFalseAlarm = 1e-6;       // chance, at a look at ages that stands for 0.1 s or a call
constexpr double kFalseAlarmOfFew = 1e-8;  // chance, at each of a hundred looks a second
constexpr std::int64_t kFew = 4;           // finished calls at least, of which three must be slow;
constexpr std::int64_t kFewAtMost = 64;    // more of them tell no more
constexpr double kOfAnotherWorld = 0.1;    // weight of calls from before an alarm
constexpr double kRaisePause = 8;          // s between up probes, at first
constexpr double kOther = 0.7;             // of the logarithm of a call's time: twice as long, or half

// The chance of one call at which that of the median of so many calls is `chance`: binom(n, h) p^h, h being as old or
// slow, or more so.
double chance_of_half(std::int64_t calls, double chance) {
  const std::int64_t half = calls / 2 + 1;
  double ways = 0;  // its logarithm; std::lgamma writes a global variable
  for (std::int64_t i = 1; i <= calls - half; ++i) ways += std::log(as_double(half + i) / as_double(i));
  return std::exp((std::log(chance) - ways) / as_double(half));
}

// The time, in s, that so many of the calls between two looks took at least.
double reached_by(std::int64_t calls, const ServiceTimes& before, const ServiceTimes& now) {
  std::size_t i = now.size();
  while (i > 0 && calls > 0) --i, calls -= now[i] - before[i];
  return service_time_from(i) / 1e9;
}

}  // namespace

// ------------------------------------------------------------------------------------------------ what is seen

void StageTuner::observe(const Snapshot& now, const StageSnapshot& stage, const Traffic& traffic) {
  now_s_ = seconds(now.time_ns);
  fresh_ = false;
  if (has_changed(stage)) note_change(stage);
  note_idleness(traffic.idle);
  if (is_settling()) {
    aged_s_ = -1;
    return restart_window(now, stage);
  }
  if (is_guessed_ && stage.completed == from_.counts.completed)
    restart_window(now, stage);  // it begins with the first that ends
  const auto slow = slow_few(now, stage, traffic);
  if (!slow && !window_is_complete(stage)) return look_at_ages(stage);
  take(slow ? *slow : take_sample(from_, now, stage, traffic), now, stage, traffic, slow.has_value());
}

// At its end, or where a few calls have told enough. The next one begins.
void StageTuner::take(const Sample& sample, const Snapshot& now, const StageSnapshot& stage, const Traffic& traffic,
                      bool is_slow) {
  if (is_slow) service_times_.fade(kOfAnotherWorld);  // what comes now is to outweigh it
  service_times_.add(from_.service_times, stage.service_times);
  restart_window(now, stage);
  pauses_ = 0;
  if (!(sample.cpu_s >= 0)) return;
  fresh_ = true;
  learn(sample, traffic, is_slow);
}

void StageTuner::note_idleness(bool is_idle) {
  const bool was_idle = std::exchange(idle_, is_idle);
  if (is_idle && !was_idle) ++pauses_;
}

bool StageTuner::is_settling() const noexcept { return now_s_ < settled_s_ || (idle_ && pauses_ <= kPauses); }

StageTuner::WindowStart StageTuner::start_at(const Snapshot& now, const StageSnapshot& stage) {
  return {counts_of(stage), stage.service_times, now.time_ns, now.consumer.wait_ns};
}

void StageTuner::restart_window(const Snapshot& now, const StageSnapshot& stage) {
  from_ = recent_ = start_at(now, stage);
}

// Calls that were already under way are still seen for a while.
void StageTuner::note_change(const StageSnapshot& stage) {
  if (stage.on_pool != on_pool_) {
    known_ = false;
    began_s_ = now_s_;
  }
  if (stage.parallelism > calls_) {
    note_increase();
  } else {
    before_increase_.reset();
  }
  restoring_ = false;
  unseen_ = true;
  raised_ = stage.parallelism > calls_;
  trim_due_s_ = std::max(trim_due_s_, now_s_ + kTrimAfter);
  if (level_.known()) {
    level_before_ = level_.value();
    calls_before_ = calls_;
  }
  if (!known_) level_before_ = 0;
  calls_ = stage.parallelism;
  on_pool_ = stage.on_pool;
  settled_s_ = now_s_ + (is_guessed_ ? kShortAge : known_ ? 2 * level_.value() : 0);
  steady_ = Sample();
  level_.forget();
  fewer_in_a_row_ = 0;
}

void StageTuner::note_increase() {
  increased_s_ = now_s_;
  if (!before_increase_ && steady_.completed > 0 && !probe_ && !restoring_) before_increase_ = steady_;
}

std::int64_t StageTuner::completions_needed(const StageSnapshot& stage) const {
  if (!known_) return 4;
  if (probe_) return completions_to_compare(stage);
  const double time = now_s_ - seconds(from_.ns);
  std::int64_t needed = std::max<std::int64_t>(16, std::min<std::int64_t>(stage.parallelism, 64));
  if (is_calm() && time <= kLongestWindow) needed = std::max<std::int64_t>(64, 4 * stage.parallelism);
  const double root = service_times_.variation() / kSmallError;
  if (time < kSoon) needed = std::max(needed, static_cast<std::int64_t>(root * root));
  return needed;
}

// Enough to tell what a probe has brought: the error of a rate is about variation / sqrt(n), and a fifth is at stake.
std::int64_t StageTuner::completions_to_compare(const StageSnapshot& stage) const {
  const double variation = std::clamp(service_times_.variation(), 0.5, 2.0);
  const auto most = static_cast<std::int64_t>((probe_ ? probe_->rate_before : steady_.rate) * kLongestProbe);
  const auto wanted = static_cast<std::int64_t>(1600 * variation * variation);
  return std::max({2 * stage.parallelism, std::int64_t{16}, std::min(wanted, most)});
}

bool StageTuner::window_is_complete(const StageSnapshot& stage) const {
  const std::int64_t completed = stage.completed - from_.counts.completed;
  const double time = now_s_ - seconds(from_.ns);
  if (has_clearly_failed(completed, time)) return true;
  if (completed < completions_needed(stage)) return false;
  if (is_guessed_) return completed >= stage.running;  // as many elements as calls are under way
  return time >= (is_calm() ? kCalmLatencies : 1) * (level_.known() ? level_.value() : call_s());
}

// A probe that costs much is not paid for longer than it takes to see that.
bool StageTuner::has_clearly_failed(std::int64_t completed, double time) const {
  if (!probe_ || !probe_->fewer || completed < 64) return false;
  return as_double(completed) < kClearFailure * probe_->rate_before * time;
}

StageTuner::Sample StageTuner::take_sample(const WindowStart& from, const Snapshot& now, const StageSnapshot& stage,
                                           const Traffic& traffic) const {
  Sample sample;
  sample.seconds = std::max(seconds(now.time_ns - from.ns), 1e-6);
  const StageRates rates = stage_rates(from.counts, stage, sample.seconds);
  sample.rate = rates.rate;
  sample.completed = rates.completed;
  sample.busy = rates.busy;
  sample.blocked = rates.blocked;
  sample.wait_share = std::clamp(seconds(now.consumer.wait_ns - from.wait_ns) / sample.seconds, 0.0, 1.0);
  sample.cpu_share = traffic.cpu_share;
  sample.calls = stage.parallelism;
  sample.samples = rates.samples;
  // Between the few calls whose clocks are read, what was known of them holds.
  // What runs in turn is not sampled, but bounds the rate.
  sample.cpu_s = rates.samples > 0 ? rates.cpu_s : known_ ? cpu_.value() : stage.parallel ? kUnknown : 0;
  sample.waiting_s = rates.samples > 0 ? rates.waiting_s : std::max(0.0, rates.call_s - sample.cpu_s);
  // Right after the start most calls are unfinished, and Little's law does not hold yet; but none is older than the
  // start.
  sample.waiting_s = std::min(sample.waiting_s, now_s_ - began_s_);
  return sample;
}

// ------------------------------------------------------------------------------------------------ what is learned

// Relative error of an average of so many.
double StageTuner::noise_of(std::int64_t count) const {
  return service_times_.variation() / std::sqrt(as_double(std::max<std::int64_t>(count, 1)));
}

// The first sample of more calls. That they wait for one another makes each as many times slower as there are more of
// them, and a lock on which they crowd makes that worse; but not more than the square of it.
bool StageTuner::is_beyond_own_effect(const Sample& sample) const {
  const double more = std::max(1.0, as_double(sample.calls) / as_double(std::max<std::int64_t>(calls_before_, 1)));
  return unseen_ && level_before_ > 0 &&
         sample.call_s() > kFarSlower * more * more * std::max(level_before_, call_s()) + kShortAge;
}

void StageTuner::learn(const Sample& sample, const Traffic& traffic, bool is_slow) {
  if (!known_) learn_first(sample);
  const bool knee = is_knee(sample);
  // What more calls have brought is taken back first: in front of a store that throttles, an alarm would ask for many
  // more.
  const bool is_other_world = is_slow || (!knee && !probe_ && is_beyond_own_effect(sample));
  unseen_ = is_guessed_ = false;
  seen_calls_ = sample.calls;
  if (tells_of_a_change(sample) || is_other_world) alarm(sample.waiting_s);
  if (!knee) learn_of_unqueued(sample);
  add_to_steady(sample);
  let_ceiling_rise();
  judge_probe(sample);
  trim_integral(sample, traffic);
}

// Of calls that have not been found to queue in front of a device.
void StageTuner::learn_of_unqueued(const Sample& sample) {
  learn_base(sample);
  if (sample.call_s() < kSlower * call_s()) useful_calls_ = std::max(useful_calls_, sample.calls);
}

// A lock may give more to fewer calls. A single sample may be luck.
void StageTuner::let_ceiling_rise() {
  if (ceiling_ < kUnbounded && steady_.seconds > kSettledRate) ceiling_ = std::max(ceiling_, steady_.rate);
}

void StageTuner::learn_first(const Sample& sample) {
  known_ = true;
  cpu_.set(sample.cpu_s);
  level_.set(sample.call_s());
  base_ = sample.waiting_s;
  relearn_ = 2;
}

// Takes it into the averages. What calls wait more behind an increase of our own, or in a probe, is no news.
bool StageTuner::tells_of_a_change(const Sample& sample) {
  const double weight = is_calm() ? kCalmWeight : kWeight;
  const double cpu_before = cpu_.value();
  const bool cpu_changed = cpu_.add(sample.cpu_s, std::max(noise_of(sample.samples), 0.15), weight);
  const bool level_changed = level_.add(sample.call_s(), noise_of(sample.completed), weight);
  const bool own_effect = now_s_ < increased_s_ + kGuard * sample.call_s() + 0.02;
  const bool computes_differently = cpu_changed && std::abs(sample.cpu_s - cpu_before) > 0.1 * sample.call_s();
  return computes_differently || (level_changed && !own_effect && !probe_);
}

// Slower calls are not averaged in: if they wait in front of a device, more of them would make each slower still,
// without end. If the world has changed, an alarm says so.
void StageTuner::learn_base(const Sample& sample) {
  if (relearn_ > 0) {
    --relearn_;
    base_ = sample.waiting_s;
    return;
  }
  const double ratio = sample.call_s() / std::max(call_s(), 1e-9);
  if (ratio > kSlower) return;
  base_ += (ratio < 1 / kSlower ? 0.5 : is_calm() ? kCalmWeight : kWeight) * (sample.waiting_s - base_);
}

// More calls, each slower, and no more results: a device, or a lock. Both, since the bottleneck may be elsewhere by
// now.
bool StageTuner::is_knee(const Sample& sample) {
  if (!before_increase_) return false;
  const Sample before = *before_increase_;
  before_increase_.reset();
  const double gain = sample.rate / std::max(before.rate, 1e-9) - 1;
  const double expected = as_double(sample.calls) / as_double(before.calls) - 1;
  if (gain >= expected / 2 || sample.call_s() < kSlower * before.call_s() || sample.busy < kBusy) return false;
  ceiling_ = std::max(before.rate, sample.rate);
  if (sample.rate < 1.05 * before.rate) {  // in vain, or worse
    held_ = before.calls;
    verdict_ = Wish{before.calls, Reason::knee};
  }
  integral_ = 1;
  trim_due_s_ = now_s_;
  raise_due_s_ = std::min(raise_due_s_, now_s_ + kRaisePause);
  return true;
}

void StageTuner::add_to_steady(const Sample& sample) {
  const double change = std::abs(std::log(sample.call_s() / steady_.call_s()));  // if there is one yet
  if (change > std::max(kOther, 4 * noise_of(sample.completed))) steady_ = Sample();
  const double all = steady_.seconds + sample.seconds, part = sample.seconds / all;
  const std::int64_t completed = steady_.completed + sample.completed;
  Sample joined = sample;
  joined.seconds = all;
  joined.completed = completed;
  joined.rate = as_double(completed) / all;
  joined.busy = steady_.busy + part * (sample.busy - steady_.busy);
  joined.wait_share = steady_.wait_share + part * (sample.wait_share - steady_.wait_share);
  joined.cpu_share = steady_.cpu_share + part * (sample.cpu_share - steady_.cpu_share);
  joined.cpu_s = steady_.cpu_s + part * (sample.cpu_s - steady_.cpu_s);
  joined.waiting_s = steady_.waiting_s + part * (sample.waiting_s - steady_.waiting_s);
  // The last seconds only, so that it follows.
  if (joined.seconds > 5) {
    joined.seconds /= 2;
    joined.completed /= 2;
  }
  steady_ = joined;
}

bool StageTuner::is_limited_elsewhere(const Sample& sample, const Traffic& traffic) const {
  return traffic.cpu_bound() || ceiling_ < kUnbounded || held_ > 0 || sample.blocked > 0.1;
}

// What the law is short of, by its own error: a little more at each sample for as long as it may help.
void StageTuner::trim_integral(const Sample& sample, const Traffic& traffic) {
  const bool limited_elsewhere = is_limited_elsewhere(sample, traffic);
  if (traffic.consumer_waits() && !limited_elsewhere && sample.busy > kBusy)
    integral_ = std::min(kLargestIntegral, 1.12 * integral_);
  if (traffic.consumer_is_served() || limited_elsewhere) integral_ = std::max(1.0, integral_ / 1.12);
}

void StageTuner::judge_probe(const Sample& sample) {
  if (!probe_) return;
  const Probe probe = *probe_;
  probe_.reset();
  probe.fewer ? judge_fewer(sample, probe) : judge_more(sample, probe);
}

bool StageTuner::was_enough(const Sample& sample, const Probe& probe) const {
  const double least = (trim_failed_ ? kKeptOnceMore : kKept) * probe.rate_before;
  return sample.rate >= least && sample.rate >= 0.93 * best_rate_ && sample.wait_share <= probe.wait_before + 0.04;
}

void StageTuner::judge_fewer(const Sample& sample, const Probe& probe) {
  const bool better = sample.rate > 1.05 * probe.rate_before;  // more calls were worse
  const bool enough = was_enough(sample, probe);
  trim_failed_ = trim_failed_ || !enough;
  if (trim_failed_) trim_pause_s_ = std::min(kLongestPause, 2 * trim_pause_s_ + 0.5);
  if (sample.rate < kClearFailure * probe.rate_before) trim_pause_s_ = std::max(trim_pause_s_, 5.0);
  trim_due_s_ = better && enough ? now_s_ : now_s_ + trim_pause_s_;
  if (better) raise_due_s_ = std::max(raise_due_s_, now_s_ + 30);
  if (enough) {
    held_ = sample.calls;
    base_ = std::min(base_, sample.waiting_s);
  } else {
    best_rate_ = 0;
    held_ = probe.calls_before + probe.calls_before / 8;  // a little more than just enough
    restore(held_);
  }
}

void StageTuner::judge_more(const Sample& sample, const Probe& probe) {
  const bool better = sample.rate >= 1.05 * probe.rate_before;
  raise_pause_s_ = better ? 1 : std::min(kLongestPause, 2 * raise_pause_s_);
  raise_due_s_ = now_s_ + raise_pause_s_;
  if (!better) return restore(probe.calls_before);
  held_ = 0;
  ceiling_ = kUnbounded;
}

void StageTuner::restore(std::int64_t calls) {
  verdict_ = Wish{calls, Reason::restore};
  restoring_ = true;
}

// A few calls, half of which take as long as hardly any did, tell of a change long before there are enough for a
// sample: a stage whose calls were short has one or two of them, and they finish seldom now. Two rounds of all calls,
// since one hiccup delays all that are under way.
std::optional<StageTuner::Sample> StageTuner::slow_few(const Snapshot& now, const StageSnapshot& stage,
                                                       const Traffic& traffic) {
  const std::int64_t calls = stage.completed - recent_.counts.completed;
  if (!few_may_tell(stage, calls)) return std::nullopt;
  const double mean = seconds(stage.slot_ns - recent_.counts.slot_ns) / as_double(calls);  // first, for it is cheap
  const double limit = kFarSlower * usual_call_s() + kShortAge;
  const bool is_suspect = mean > limit && now_s_ > increased_s_ + kGuard * mean;
  if (is_suspect) {
    if (const auto sample = slower_than(limit, calls, now, stage, traffic)) return sample;
  }
  if (!is_suspect || calls >= kFewAtMost) recent_ = start_at(now, stage);
  return std::nullopt;
}

bool StageTuner::few_may_tell(const StageSnapshot& stage, std::int64_t calls) const {
  const bool waits = stage.on_pool || stage.completes_later;
  const bool own_effect = unseen_ && raised_;
  return waits && known_ && !own_effect && calls >= std::max(kFew, 2 * stage.parallelism);
}

std::optional<StageTuner::Sample> StageTuner::slower_than(double limit, std::int64_t calls, const Snapshot& now,
                                                          const StageSnapshot& stage, const Traffic& traffic) const {
  const double median = reached_by(calls / 2 + 1, recent_.service_times, stage.service_times);
  const bool is_new = median > limit && median > service_times_.reached_with(chance_of_half(calls, kFalseAlarmOfFew));
  if (!is_new) return std::nullopt;
  const Sample sample = take_sample(recent_, now, stage, traffic);
  return sample.call_s() > limit ? std::optional(sample) : std::nullopt;  // else they only had to wait for a core
}

// Calls that are under way for much longer than calls take tell of a change before any of them has finished.
void StageTuner::look_at_ages(const StageSnapshot& stage) {
  const double since = std::exchange(aged_s_, -1);
  if (!ages_may_tell(stage) || !are_too_old(stage)) return;
  aged_s_ = since < 0 ? now_s_ : since;
  if (now_s_ - aged_s_ < std::min(usual_call_s(), 0.1)) return;
  alarm(std::max(kOfAnAge * seconds(stage.oldest_call_ns) - cpu_s(), 0.0));
  is_guessed_ = true;
}

bool StageTuner::ages_may_tell(const StageSnapshot& stage) const {
  const bool own_effect = unseen_ && before_increase_;  // the next sample tells
  if (!known_ || own_effect || stage.running < stage.parallelism) return false;
  return now_s_ >= increased_s_ + kGuard * usual_call_s();
}

bool StageTuner::are_too_old(const StageSnapshot& stage) const {
  const double oldest = seconds(stage.oldest_call_ns), median = seconds(stage.median_call_ns);
  const double expected = usual_call_s();
  const auto is_slow = [&](double times) { return median >= times * expected + 0.002; };
  if (oldest < kFarSlower * expected + kShortAge || !is_slow(kSlow)) return false;  // first, for it is cheap
  return is_slow(service_times_.age_over_mean(chance_of_half(stage.running, kFalseAlarm)));
}

void StageTuner::alarm(double waiting_s) {
  base_ = waiting_s;
  relearn_ = 2;
  level_.set(cpu_s() + waiting_s);
  ceiling_ = kUnbounded;
  held_ = 0;
  integral_ = 1;
  probe_.reset();
  verdict_.reset();
  before_increase_.reset();
  steady_ = Sample();
  trim_pause_s_ = 0.5;
  trim_failed_ = false;
  best_rate_ = 0;
  aged_s_ = -1;
  raise_pause_s_ = kRaisePause;
  raise_due_s_ = std::min(raise_due_s_, now_s_ + kRaisePause);
  trim_due_s_ = now_s_ + trim_pause_s_;
  alarmed_s_ = now_s_;
  fewer_in_a_row_ = 2;  // the next sample that asks for less is believed
  service_times_.fade(kOfAnotherWorld);
}

}  // namespace penstock::autotune
