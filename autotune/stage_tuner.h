// StageTuner: what one stage's calls take, and how many of them may run at once.
//
// The law is in README.md: Little's law says how many, an average that does not grow with its own effect says how long
// a call takes, and what the law cannot know (a device or a lock behind the calls) is found by comparing rates before
// and after a change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <penstock/decision.h>
#include <penstock/snapshot.h>

#include "autotune/traffic.h"
#include "autotune/wish.h"
#include "autotune/model.h"
#include "autotune/service_times.h"
#include "autotune/tracked.h"

namespace penstock::autotune {

class StageTuner {
 public:
  static constexpr double kBusy = 0.88;  // of a stage's calls under way: more wait for a free one

  explicit StageTuner(std::size_t index) : index_(index) {}

  struct CallRange {
    std::int64_t least = 1, most = 1;  // calls
    Reason reason = Reason::io_limit;  // of `most`
  };
  // Takes notice of a tick. Calls it before wish(), each tick.
  void observe(const Snapshot& now, const StageSnapshot& stage, const Traffic& traffic);

  // How many calls there should be, if that is worth a change. `range`: what the user and budgets allow. `may_probe`:
  // no other stage is being probed.
  std::optional<Wish> wish(const StageSnapshot& stage, const Traffic& traffic, const CallRange& range, bool may_probe);

  bool known() const noexcept { return known_; }
  std::int64_t useful_calls() const noexcept {
    return useful_calls_;
  }  // the most at once that did not queue; 0: there was no sample
  bool probing() const noexcept { return probe_.has_value(); }
  double cpu_s() const noexcept { return known_ ? cpu_.value() : 0; }
  double call_s() const noexcept { return cpu_s() + base_; }  // of an element, on an idle machine
  double ceiling() const noexcept { return ceiling_; }
  const ServiceTimeTail& service_times() const noexcept { return service_times_; }
  double calm_s() const noexcept { return now_s_ - alarmed_s_; }  // since the last alarm

 private:
  struct Sample {
    double seconds = 0, rate = 0, cpu_s = 0, waiting_s = 0, busy = 0, blocked = 0, wait_share = 0, cpu_share = 0;
    std::int64_t calls = 1, completed = 0, samples = 0;
    double call_s() const { return cpu_s + waiting_s; }
  };
  struct Probe {
    std::int64_t calls_before = 1;
    double rate_before = 0, wait_before = 0;
    bool fewer = true;
  };

  // Where the window of a sample begins.
  struct WindowStart {
    StageCounts counts;
    ServiceTimes service_times = {};
    std::int64_t ns = 0, wait_ns = 0;  // time; of the consumer
  };

  static WindowStart start_at(const Snapshot& now, const StageSnapshot& stage);
  void restart_window(const Snapshot& now, const StageSnapshot& stage);
  bool has_changed(const StageSnapshot& stage) const noexcept {
    return stage.parallelism != calls_ || stage.on_pool != on_pool_;
  }
  void note_idleness(bool is_idle);
  void note_change(const StageSnapshot& stage);
  void note_increase();
  bool is_settling() const noexcept;
  void take(const Sample& sample, const Snapshot& now, const StageSnapshot& stage, const Traffic& traffic,
            bool is_slow);
  bool window_is_complete(const StageSnapshot& stage) const;
  bool has_clearly_failed(std::int64_t completed, double time) const;
  std::int64_t completions_needed(const StageSnapshot& stage) const;
  std::int64_t completions_to_compare(const StageSnapshot& stage) const;
  Sample take_sample(const WindowStart& from, const Snapshot& now, const StageSnapshot& stage,
                     const Traffic& traffic) const;
  bool is_calm() const noexcept { return calm_s() > 2; }
  double noise_of(std::int64_t count) const;
  void learn(const Sample& sample, const Traffic& traffic, bool is_slow);
  void learn_first(const Sample& sample);
  void learn_base(const Sample& sample);
  void learn_of_unqueued(const Sample& sample);
  void let_ceiling_rise();
  bool tells_of_a_change(const Sample& sample);
  bool is_knee(const Sample& sample);
  bool is_beyond_own_effect(const Sample& sample) const;
  void add_to_steady(const Sample& sample);
  bool is_limited_elsewhere(const Sample& sample, const Traffic& traffic) const;
  void trim_integral(const Sample& sample, const Traffic& traffic);
  void judge_probe(const Sample& sample);
  bool was_enough(const Sample& sample, const Probe& probe) const;
  void judge_fewer(const Sample& sample, const Probe& probe);
  void judge_more(const Sample& sample, const Probe& probe);
  void restore(std::int64_t calls);
  void look_at_ages(const StageSnapshot& stage);
  bool ages_may_tell(const StageSnapshot& stage) const;
  bool are_too_old(const StageSnapshot& stage) const;
  std::optional<Sample> slow_few(const Snapshot& now, const StageSnapshot& stage, const Traffic& traffic);
  bool few_may_tell(const StageSnapshot& stage, std::int64_t calls) const;
  std::optional<Sample> slower_than(double limit, std::int64_t calls, const Snapshot& now, const StageSnapshot& stage,
                                    const Traffic& traffic) const;
  double usual_call_s() const noexcept { return std::max(level_.known() ? level_.value() : level_before_, call_s()); }
  void alarm(double waiting_s);

  Wish within(const CallRange& range);
  std::optional<Wish> slow_start(const StageSnapshot& stage, const Traffic& traffic, std::int64_t most) const;
  std::optional<Wish> next_probe(const StageSnapshot& stage, const Traffic& traffic, const CallRange& range);
  std::optional<Wish> trim_probe(std::int64_t now, const CallRange& range);
  std::optional<Wish> up_probe(std::int64_t now, const Traffic& traffic, const CallRange& range);
  double target(const Traffic& traffic) const;
  std::optional<Wish> towards(double target, const StageSnapshot& stage, const Traffic& traffic,
                              const CallRange& range);
  bool is_worth_more(std::int64_t calls, std::int64_t now, const Traffic& traffic) const;
  std::optional<Wish> fewer(std::int64_t calls, const StageSnapshot& stage, const Traffic& traffic);
  double largest_jump(const Traffic& traffic) const;
  bool is_bottleneck(const Traffic& traffic) const;

  const std::size_t index_;

  WindowStart from_;    // of the next sample
  WindowStart recent_;  // of the last few calls to finish
  double now_s_ = 0;
  double settled_s_ = 0;    // no sample of before
  bool idle_ = false;       // the consumer, when last seen
  int pauses_ = 0;          // of it since the last sample
  std::int64_t calls_ = 0;  // knob, when last seen
  bool on_pool_ = false;
  bool raised_ = false;        // by the last change
  double increased_s_ = -1e9;  // when it was last raised, by anyone
  double began_s_ = 0;         // when it was put where it is

  // Learned.
  bool known_ = false;
  Tracked cpu_, level_;            // k; k + w at the present number of calls,
  double level_before_ = 0;        // and at the one before,
  std::int64_t calls_before_ = 1;  // which was this
  double base_ = 0;                // w of an idle device
  double integral_ = 1;            // tau
  double ceiling_ = kUnbounded;    // D: elements/s
  std::int64_t held_ = 0;          // more calls than this have brought nothing; 0: not known
  ServiceTimeTail service_times_;
  Sample steady_;  // of the present number of calls: all samples of it together
  std::optional<Sample> before_increase_;
  double alarmed_s_ = 0;
  double aged_s_ = -1;  // since when calls are under way for too long; -1: they are not

  std::optional<Probe> probe_;
  std::optional<Wish> verdict_;  // of the last probe
  bool restoring_ = false;       // the next increase is that
  double best_rate_ = 0;         // since the last alarm, or the last probe that failed: trims are not to add up
  double trim_pause_s_ = 0.5, trim_due_s_ = 0;
  bool trim_failed_ = false;  // since the last alarm
  double raise_pause_s_ = 8, raise_due_s_ = 0;
  bool is_guessed_ = false;        // how long a call takes, by the ages of some: they may be quick again by now
  bool unseen_ = true;             // no sample of the present number of calls yet
  std::int64_t seen_calls_ = 0;    // of which there was one
  std::int64_t useful_calls_ = 0;  // the most of which there was one, and that took no longer than fewer
  int relearn_ = 0;                // samples to be believed as they are
  int fewer_in_a_row_ = 0;
  bool fresh_ = false;  // a sample has been taken in this tick
};

}  // namespace penstock::autotune
