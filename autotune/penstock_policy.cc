// The controller: see README.md for the law.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "autotune/traffic.h"
#include "autotune/give_way.h"
#include "autotune/outlet_tuner.h"
#include "autotune/placement.h"
#include "autotune/plan.h"
#include "autotune/policy.h"
#include "autotune/stage_tuner.h"
#include "autotune/window_stretch.h"

namespace penstock::autotune {
namespace {

constexpr std::int64_t kFirstCalls = 4;        // of a stage that has been found to wait
constexpr std::int64_t kFirstBuffer = 2;       // elements before a stage that waits, at least
constexpr std::int64_t kAhead = 16;            // elements behind a stage that waits,
constexpr std::int64_t kPartForBuffer = 32;    // if the budget has room for so many times as many
constexpr std::int64_t kMostMoreRequests = 2;  // times as many calls that complete later as did not queue
constexpr std::int64_t kWithMemory =
    1;  // call of a stage that computes: it waits for a core, so that no core waits for memory
constexpr double kStalled = 0.015;    // of the time, for which results may wait for a slow call before them
constexpr std::int64_t kWidest = 64;  // window of a stage that computes, in calls
// Of the memory that calls leave, for each of two branches that are joined, where it is scarce: one could hold what the
// other needs.
constexpr double kScarceForBranch = 0.7;
constexpr double kUnboundedFit = 1e12;  // elements: a memory limit may be all that a number can say
constexpr double kTooMuchFor = 1;       // s, of a window
constexpr double kServedPause = 0.25;   // s between two changes of a window

class PenstockPolicy final : public Policy {
 public:
  void tick(const Snapshot& now, std::vector<Knob>& knobs) override {
    if (stages_.empty()) prepare(now, knobs);
    traffic_meter_.read(now, cpu_times(), traffic_);
    for (TunedStage& stage : stages_) {
      stage.tuner.observe(now, now.stages[stage.index], traffic_);
      limits_of(stage.index).ceiling = stage.tuner.ceiling();
    }
    traffic_.work_s = work_s(traffic_);
    traffic_.attainable = attainable(now, traffic_);
    traffic_.all_known =
        std::all_of(stages_.begin(), stages_.end(), [](const TunedStage& stage) { return stage.tuner.known(); });
    share_open_io(now, traffic_);
    share_memory(now, traffic_);
    for (TunedStage& stage : stages_) tune(stage, now, traffic_);
    if (prefetch_ != nullptr && !prefetch_->user_fixed) {
      if (const auto wish = outlet_.wish(now, traffic_)) move(*prefetch_, wish->to, wish->reason, now);
    }
    give_way(now, traffic_);
  }

 private:
  struct TunedStage {
    explicit TunedStage(std::size_t i) : index(i), tuner(i) {}
    std::size_t index;
    StageTuner tuner;
    Placement placement;
    Knob *parallelism = nullptr, *window = nullptr, *buffer = nullptr, *place = nullptr;
    std::int64_t calls = 1;      // parallelism, as it stands now
    std::int64_t open_io = 1;    // fair share of the run's
    std::optional<int> placing;  // where it is to go; it may have to wait for a thread
    WindowStretch stretch;       // of the window
    double window_s = -1;        // when the window was last moved
    double fitted_s = 0;         // when it was last within its share of the memory
  };

  void prepare(const Snapshot& now, std::vector<Knob>& knobs) {
    for (std::size_t i = 0; i < now.stages.size(); ++i) stages_.emplace_back(i);
    for (Knob& knob : knobs) {
      if (knob.stage < 0) {
        note_of_run(knob);
      } else {
        note(knob, stages_[static_cast<std::size_t>(knob.stage)]);
      }
    }
    if (priority_ != nullptr) gives_way_ = priority_->get();
    joins_ = std::ranges::count(feed_merges(now), true) > 0;
  }

  void note_of_run(Knob& knob) {
    switch (knob.kind) {
      case KnobKind::prefetch: prefetch_ = &knob; break;
      case KnobKind::priority: priority_ = knob.user_fixed || knob.high == 0 ? nullptr : &knob; break;
      case KnobKind::cpu_slots: cpu_slots_ = knob.user_fixed ? nullptr : &knob; break;
      default: break;  // not to be moved
    }
  }

  static void note(Knob& knob, TunedStage& stage) {
    switch (knob.kind) {
      case KnobKind::parallelism: stage.parallelism = &knob; break;
      case KnobKind::window: stage.window = &knob; break;
      case KnobKind::buffer: stage.buffer = &knob; break;
      case KnobKind::placement: stage.place = &knob; break;
      default: break;
    }
  }

  const std::vector<double>& cpu_times() {
    cpu_s_.clear();
    for (const TunedStage& stage : stages_) cpu_s_.push_back(stage.tuner.cpu_s());
    return cpu_s_;
  }

  double work_s(const Traffic& traffic) const {
    double cpu_s = traffic.unattributed_cpu_s;
    for (const TunedStage& stage : stages_) cpu_s += traffic.visits[stage.index] * stage.tuner.cpu_s();
    return cpu_s;
  }

  // Elements/s that its calls allow where their number is given.
  static double rate_of_fixed_calls(const TunedStage& stage, const StageSnapshot& snapshot, double visits) {
    const bool fixed = stage.parallelism != nullptr && stage.parallelism->user_fixed;
    if (!stage.tuner.known() || (snapshot.parallel && !fixed) || !(stage.tuner.call_s() > 0)) return kUnbounded;
    const double calls = snapshot.parallel ? static_cast<double>(snapshot.parallelism) : 1;
    return calls / (visits * stage.tuner.call_s());
  }

  // X_T: the least of what the CPUs, each stage in turn, each device and the consumer allow, as far as they are known.
  double attainable(const Snapshot& now, const Traffic& traffic) const {
    double least = kHeadroom * traffic.demand;
    for (const TunedStage& stage : stages_) {
      const double visits = traffic.visits[stage.index];
      least = std::min(least, stage.tuner.ceiling() / visits);
      least = std::min(least, rate_of_fixed_calls(stage, now.stages[stage.index], visits));
    }
    if (!(traffic.work_s > 0)) return least;
    // What other threads use is charged as a guess, which must not talk down what is delivered already.
    return std::min(least, std::max(traffic.cpus / traffic.work_s,
                                    traffic.unattributed_cpu_s > 0 ? kHeadroom * traffic.delivered : 0));
  }

  // Time of its calls for one element delivered.
  static double call_s_of(const TunedStage& stage, const Traffic& traffic) {
    return traffic.visits[stage.index] * stage.tuner.call_s();
  }

  // Who waits, or is about to. What a stage still has under way is not free yet.
  void count_threads(const Snapshot& now, const Traffic& traffic) {
    call_s_.clear();
    free_threads_ = open_io_ = now.open_io_limit;
    for (const TunedStage& stage : stages_) {
      const StageSnapshot& snapshot = now.stages[stage.index];
      if (takes_threads(snapshot)) free_threads_ -= calls_of(snapshot);
      if (takes_threads(snapshot) || stage.placing == 1) call_s_.push_back(call_s_of(stage, traffic));
    }
  }

  // Threads that wait are one more bound of the rate: see plan.h.
  void share_open_io(const Snapshot& now, Traffic& traffic) {
    count_threads(now, traffic);
    if (call_s_.empty()) return;
    const bool has_one_without =
        std::ranges::any_of(stages_, [](const TunedStage& stage) { return stage.placing == 1; });
    const bool is_enough =
        free_threads_ >= 0 && !has_one_without;  // nothing says yet that what a stage has is too much
    const double rate = rate_for_threads(call_s_, static_cast<double>(now.open_io_limit));
    const std::int64_t even = now.open_io_limit / static_cast<std::int64_t>(call_s_.size());
    for (TunedStage& stage : stages_) {
      const StageSnapshot& snapshot = now.stages[stage.index];
      if (!takes_threads(snapshot)) continue;
      const std::int64_t kept = is_enough ? snapshot.parallelism : 0;
      stage.open_io = traffic.all_known ? calls_at(rate, call_s_of(stage, traffic)) : std::max(even, kept);
    }
    if (traffic.all_known) traffic.attainable = std::min(traffic.attainable, rate);
  }

  // Memory is the last bound: what the calls of all stages hold must fit. What is left is for each of them, for its
  // calls and its window.
  void share_memory(const Snapshot& now, Traffic& traffic) {
    memory_uses_.assign(stages_.size(), MemoryUse());
    double buffered = 0;  // bytes
    for (const TunedStage& stage : stages_) {
      const StageSnapshot& snapshot = now.stages[stage.index];
      const auto each = static_cast<double>(bytes_of_result(snapshot));
      const double results =
          static_cast<double>(snapshot.made) / static_cast<double>(std::max<std::int64_t>(snapshot.completed, 1));
      memory_uses_[stage.index].bytes += each * results;
      memory_uses_[stage.index].call_s = call_s_of(stage, traffic);
      if (snapshot.feeds < 0) continue;
      const auto next = static_cast<std::size_t>(snapshot.feeds);
      memory_uses_[next].bytes += each;
      if (now.stages[next].on_pool)
        buffered += each * static_cast<double>(standing_before(stages_[next], now.stages[next]));
    }
    const auto memory = static_cast<double>(now.memory_limit);
    const double limit = std::max(memory - buffered, memory / 2);  // a buffer that is too large for it comes down
    const double rate = rate_for_memory(memory_uses_, traffic.attainable, limit);
    is_scarce_ = rate < traffic.attainable;
    const double for_each = is_scarce_ && joins_ ? std::max(rate / traffic.attainable, kScarceForBranch) : 1;
    traffic.attainable = rate;
    for (MemoryUse& use : memory_uses_) use.calls = rate < kUnbounded ? rate * use.call_s : 0;
    free_bytes_ = for_each * std::max(limit - held_by(memory_uses_), 0.0);
  }

  // Elements beyond the first two. The buffer of a stage that is the bottleneck is full; but one of the user's does not
  // come down if it is too large, and may stand empty.
  static std::int64_t standing_before(const TunedStage& stage, const StageSnapshot& snapshot) {
    const bool is_ours = stage.buffer != nullptr && !stage.buffer->user_fixed;
    const std::int64_t standing = is_ours ? snapshot.buffer : std::min(snapshot.buffer, snapshot.waiting_input);
    return std::max<std::int64_t>(standing - kFirstBuffer, 0);
  }

  // With so many bytes for each, beside what the calls of the others hold on average.
  std::int64_t that_fit(const TunedStage& stage, double bytes) const {
    return static_cast<std::int64_t>(
        std::ceil(std::min(memory_uses_[stage.index].calls + free_bytes_ / bytes, kUnboundedFit)));
  }

  static Hold hold_of(Reason reason) { return reason == Reason::byte_limit ? Hold::memory : Hold::open_io; }
  static double seconds(const Snapshot& now) { return static_cast<double>(now.time_ns) / 1e9; }
  static bool waits(const StageSnapshot& stage) { return stage.on_pool || stage.completes_later; }
  static bool takes_threads(const StageSnapshot& stage) { return stage.on_pool && !stage.completes_later; }
  static std::int64_t calls_of(const StageSnapshot& stage) { return std::max(stage.parallelism, stage.running); }

  void tune(TunedStage& stage, const Snapshot& now, const Traffic& traffic) {
    const StageSnapshot& snapshot = now.stages[stage.index];
    stage.calls = snapshot.parallelism;
    if (stage.place != nullptr) place(stage, now);
    if (stage.parallelism != nullptr && snapshot.parallel) set_calls(stage, now, traffic);
    if (stage.window != nullptr && snapshot.parallel) set_window(stage, now, traffic);
    if (stage.buffer != nullptr && !stage.buffer->user_fixed) set_buffer(stage, now);
  }

  void place(TunedStage& stage, const Snapshot& now) {
    const StageSnapshot& snapshot = now.stages[stage.index];
    if (stage.place->user_fixed) return;
    if (const auto wish = stage.placement.wish(snapshot)) stage.placing = wish;
    if (!stage.placing) return;
    const int to = *std::exchange(stage.placing, std::nullopt);
    move(*stage.place, to, to == 1 ? Reason::waits : Reason::computes, now);
    if (to == 1) set_first_calls(stage, snapshot, now);
  }

  void set_first_calls(TunedStage& stage, const StageSnapshot& snapshot, const Snapshot& now) {
    if (stage.parallelism == nullptr) return;
    const std::int64_t calls = std::max(kFirstCalls, snapshot.parallelism);
    const std::int64_t threads = std::max<std::int64_t>(free_threads_, 1);  // each that waits has one
    free_threads_ -= move(*stage.parallelism, std::min(calls, threads), Reason::slow_start, now, calls);
  }

  // The permits of the CPUs bound it anyhow.
  void raise_to_permits(Knob& calls, const StageSnapshot& snapshot, const Snapshot& now) {
    const auto permits = static_cast<std::int64_t>(std::ceil(now.cpu_budget - 0.01)) + (is_scarce_ ? kWithMemory : 0);
    if (snapshot.parallelism < permits) move(calls, permits, Reason::cpu_limit, now);
  }

  void set_calls(TunedStage& stage, const Snapshot& now, const Traffic& traffic) {
    const StageSnapshot& snapshot = now.stages[stage.index];
    Knob& knob = *stage.parallelism;
    const bool is_probed = stage.tuner.probing();  // what held it before holds it on
    if (!is_probed) limits_of(stage.index).calls = Hold::unknown;
    if (knob.user_fixed) return;
    if (!waits(snapshot)) return raise_to_permits(knob, snapshot, now);
    const StageTuner::CallRange range = range_of(stage, snapshot);
    if (!is_probed && snapshot.parallelism >= range.most) limits_of(stage.index).calls = hold_of(range.reason);
    const bool may_probe =
        std::none_of(stages_.begin(), stages_.end(), [](const TunedStage& other) { return other.tuner.probing(); });
    const auto wish = stage.tuner.wish(snapshot, traffic, range, may_probe);
    if (!wish) return;
    stage.calls = move(knob, std::min(wish->to, range.most), wish->reason, now, wish->to);
    if (takes_threads(snapshot)) free_threads_ -= std::max<std::int64_t>(stage.calls - calls_of(snapshot), 0);
  }

  // Calls that complete later take no thread, but whoever answers them has to keep them. So they begin within open I/O,
  // and go on to twice as many as have been answered no slower than a few.
  std::int64_t requests_for(const TunedStage& stage) const {
    return std::max(open_io_, kMostMoreRequests * stage.tuner.useful_calls());
  }

  // By open I/O, and by memory: a call for which nothing can be reserved is a thread that is woken in vain.
  StageTuner::CallRange range_of(const TunedStage& stage, const StageSnapshot& snapshot) const {
    const Knob& knob = *stage.parallelism;
    const std::int64_t threads = std::min(stage.open_io, std::max<std::int64_t>(free_threads_, 0) + calls_of(snapshot));
    StageTuner::CallRange range = {
        knob.low, std::min(knob.high, snapshot.completes_later ? requests_for(stage) : threads), Reason::io_limit};
    const std::int64_t each = bytes_of_result(snapshot);
    const std::int64_t fit = each > 0 ? that_fit(stage, memory_uses_[stage.index].bytes) : range.most;
    if (fit < range.most) range = {knob.low, fit, Reason::byte_limit};
    range.most = std::max({range.most, knob.low, std::int64_t{1}});
    return range;
  }

  // Of the calls that there are, elements/s.
  static double rate_of(const TunedStage& stage, const Traffic& traffic) {
    const double most = static_cast<double>(stage.calls) / std::max(stage.tuner.call_s(), 1e-6);
    return std::min(most, traffic.attainable * traffic.visits[stage.index]);
  }

  // How long others are to go on beside slow calls, in s.
  static double patience(const TunedStage& stage, double rate) {
    const ServiceTimeTail& times = stage.tuner.service_times();
    return times.patience_over_mean(rate, kStalled) * times.mean_s(stage.tuner.call_s());
  }

  // Room for all others to go on beside slow calls: as many elements as pass in their time.
  static std::int64_t window_for(const TunedStage& stage, const StageSnapshot& snapshot, const Traffic& traffic,
                                 double passing) {
    const double calls = static_cast<double>(stage.calls);
    // results of a call: until X_T is known, few calls may hold enough
    const bool makes_many = snapshot.made > snapshot.completed;
    if (!snapshot.ordered || !stage.tuner.known() || (makes_many && !traffic.all_known)) return 2 * stage.calls;
    if (makes_many) passing += std::sqrt(passing);
    const double least = (waits(snapshot) ? 1.25 : 2) * calls;
    const double most = waits(snapshot) ? kUnboundedFit : static_cast<double>(kWidest * stage.calls);
    return static_cast<std::int64_t>(std::ceil(std::clamp(passing, least, most)));
  }

  static std::int64_t widest_for(const TunedStage& stage, const StageSnapshot& snapshot) {
    return waits(snapshot) ? stage.window->high : std::min(stage.window->high, kWidest * stage.calls);
  }

  static bool next_is_empty(const Snapshot& now, const StageSnapshot& stage) {
    if (stage.feeds < 0) return now.consumer.ready == 0;
    const StageSnapshot& next = now.stages[static_cast<std::size_t>(stage.feeds)];
    return next.ready == 0 && next.waiting_input == 0;
  }

  void set_window(TunedStage& stage, const Snapshot& now, const Traffic& traffic) {
    const StageSnapshot& snapshot = now.stages[stage.index];
    const double rate = rate_of(stage, traffic), patience = PenstockPolicy::patience(stage, rate);
    const bool all_wait = traffic.consumer_waits() && next_is_empty(now, snapshot);
    stage.stretch.look(snapshot, all_wait, stage.tuner.calm_s() < 10, patience, now.time_ns);
    const std::int64_t widest = widest_for(stage, snapshot);
    auto wanted = window_for(stage, snapshot, traffic, rate * stage.stretch.at_least(patience));
    const std::int64_t each = bytes_of_result(snapshot);
    const std::int64_t most = each > 0 ? std::max(that_fit(stage, static_cast<double>(each)), stage.calls)
                                       : static_cast<std::int64_t>(kUnboundedFit);
    limits_of(stage.index).window = std::min(wanted, widest) > most ? Hold::memory
                                    : wanted >= widest              ? Hold::knob_limit
                                                                    : Hold::unknown;
    move_window(stage, now, std::min(wanted, most), most);
  }

  static bool is_calm(const TunedStage& stage, const StageSnapshot& snapshot) {
    return stage.tuner.calm_s() > 10 || !waits(snapshot);
  }

  // Whether a window that is now as wide as `has` is to move for `wanted`.
  static bool is_to_rise(const TunedStage& stage, const StageSnapshot& snapshot, std::int64_t wanted,
                         std::int64_t has) {
    return is_calm(stage, snapshot) ? 2 * wanted > 3 * has : 4 * wanted > 5 * has;
  }
  static bool is_to_fall(const TunedStage& stage, const StageSnapshot& snapshot, std::int64_t wanted, std::int64_t has,
                         double since_s) {
    return waits(snapshot) && (is_calm(stage, snapshot) ? 3 : 2) * wanted < has && since_s > 5;
  }
  static double pause_before(const TunedStage& stage, bool rises, std::int64_t has) {
    return rises && has < 2 * stage.calls ? 0 : kServedPause;
  }

  // To `wanted`, where that is worth a move. `most`: what memory allows.
  void move_window(TunedStage& stage, const Snapshot& now, std::int64_t wanted, std::int64_t most) {
    const StageSnapshot& snapshot = now.stages[stage.index];
    const double now_s = seconds(now), since_s = now_s - stage.window_s;
    const std::int64_t has = std::max(snapshot.window, stage.calls);  // never less than there are calls
    const bool rises = is_to_rise(stage, snapshot, wanted, has);
    if (50 * has <= 51 * most) stage.fitted_s = now_s;
    const bool holds_too_much = now_s - stage.fitted_s > kTooMuchFor;
    const bool is_worth_it = rises || holds_too_much || is_to_fall(stage, snapshot, wanted, has, since_s);
    if (!is_worth_it || since_s < pause_before(stage, rises, has)) return;
    move(*stage.window, wanted, holds_too_much ? Reason::byte_limit : Reason::reordering, now);
    stage.window_s = now_s;
  }

  // Room at the input of a stage that waits, so that its threads find work; and behind one, so that a thread of the
  // next stage is woken for several elements, where they are a small part of the budget: those behind the next stage
  // need it, too.
  void set_buffer(TunedStage& stage, const Snapshot& now) {
    const StageSnapshot& snapshot = now.stages[stage.index];
    std::int64_t wanted = 0;
    if (snapshot.on_pool) wanted = std::max<std::int64_t>(snapshot.parallelism / 8, kFirstBuffer);
    if (!snapshot.on_pool && follows_pool(now, stage.index)) wanted = kAhead;
    const bool falls = is_scarce_ && snapshot.on_pool && 2 * wanted <= snapshot.buffer;
    if (wanted > snapshot.buffer || falls) move(*stage.buffer, wanted, Reason::feed_forward, now);
  }

  static bool follows_pool(const Snapshot& now, std::size_t index) {
    for (const StageSnapshot& before : now.stages) {
      if (before.feeds != static_cast<int>(index) || !before.on_pool || before.made == 0) continue;
      if (kAhead * bytes_of_result(before) < now.memory_limit / kPartForBuffer) return true;
    }
    return false;
  }

  void give_way(const Snapshot& now, const Traffic& traffic) {
    if (priority_ != nullptr) {
      if (const auto wish = give_way_.priority(now, traffic, gives_way_))
        gives_way_ = move(*priority_, wish->to, wish->reason, now);
    }
    if (cpu_slots_ == nullptr) return;
    const bool last_resort = priority_ == nullptr || gives_way_ > 0;
    const GiveWay::Permits permits = {cpu_slots_->get(), cpu_slots_->high, last_resort};
    if (const auto wish = give_way_.permits(now, traffic, permits)) move(*cpu_slots_, wish->to, wish->reason, now);
  }

  std::deque<TunedStage> stages_;
  Knob *prefetch_ = nullptr, *priority_ = nullptr, *cpu_slots_ = nullptr;  // none: not to be moved
  GiveWay give_way_;
  std::int64_t gives_way_ = 0;     // where the priority stands
  std::int64_t open_io_ = 0;       // now
  std::int64_t free_threads_ = 0;  // of these; what a tick hands out is gone
  TrafficMeter traffic_meter_;
  Traffic traffic_;
  std::vector<double> cpu_s_, call_s_;  // by stage, and by stage that waits, as of this tick: kept for their storage
  std::vector<MemoryUse> memory_uses_;  // by stage, the same
  bool is_scarce_ = false;              // memory bounds the rate
  bool joins_ = false;                  // some stage is fed by two others
  double free_bytes_ = 0;               // for each stage beside what the calls of all hold on average
  OutletTuner outlet_;
};

}  // namespace

std::unique_ptr<Policy> default_policy() { return std::make_unique<PenstockPolicy>(); }

}  // namespace penstock::autotune
