// The default tuning: simple rules that need no model. The controller of autotune.md takes this place later.
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "autotune/policy.h"

namespace penstock::autotune {
namespace {

constexpr double kBlockingShare = 0.5;      // a call that is off the CPU for more than half of its time blocks
constexpr double kComputingShare = 0.8;     // on the CPU for more than this: it computes
constexpr std::int64_t kShortCall = 50'000; // ns; shorter calls are not worth a thread of their own
constexpr double kBusyShare = 0.88;         // of a stage's calls: more wait for a free one
constexpr double kIdleShare = 0.25;         // of them: less would do with half as many
constexpr double kWaitShare = 0.03;         // of the consumer's time: less is as good as none
constexpr std::int64_t kAhead = 16;         // elements
constexpr std::int64_t kPrefetchBytes = std::int64_t{64} << 20;

class DefaultPolicy final : public Policy {
 public:
  void tick(const Snapshot& now, std::vector<Knob>& knobs) override {
    before_.stages.resize(now.stages.size());
    const double time = static_cast<double>(std::max<std::int64_t>(now.time_ns - before_.time_ns, 1));
    const double waited = static_cast<double>(now.consumer.wait_ns - before_.consumer.wait_ns) / time;
    consumer_waits_ = waited > kWaitShare;
    consumer_starves_ = now.consumer.waits > before_.consumer.waits;
    const std::int64_t taken = now.consumer.taken - before_.consumer.taken;
    for (Knob& knob : knobs) {
      if (knob.user_fixed) continue;
      if (knob.stage >= 0) {
        const auto i = static_cast<std::size_t>(knob.stage);
        tune_stage(knob, now, now.stages[i], before_.stages[i], time);
      } else if (knob.name == "prefetch") {
        tune_prefetch(knob, now, taken);
      }
    }
    before_ = now;
  }

 private:
  void tune_stage(Knob& knob, const Snapshot& all, const StageSnapshot& now, const StageSnapshot& before, double time) {
    if (knob.name == "placement") return place(knob, now);
    if (knob.name == "parallelism") return widen(knob, all, now, before, time);
    if (knob.name == "window" && now.parallel) return raise(knob, 2 * now.parallelism);
    if (knob.name == "buffer" && now.on_pool) return raise(knob, std::max<std::int64_t>(now.parallelism / 8, 2));
    if (knob.name == "buffer" && follows_pool(all, knob.stage)) return raise(knob, kAhead);
  }

  // Room behind a stage that waits, so that a thread of it is woken for several elements, where they are a small part of the budget.
  static bool follows_pool(const Snapshot& all, int stage) {
    if (stage < 1) return false;
    const StageSnapshot& before = all.stages[static_cast<std::size_t>(stage) - 1];
    if (!before.on_pool || before.elements_out == 0) return false;
    return kAhead * (before.bytes_out / before.elements_out) < all.memory_limit / 64;
  }

  static void raise(Knob& knob, std::int64_t to) {
    if (knob.get() < to) knob.set(to);
  }

  // A stage whose function waits belongs on the pool, and back if it turns out to compute. Time off the CPU alone proves
  // nothing on a busy machine, where calls are preempted: a call that waits gives the CPU up by itself.
  void place(Knob& knob, const StageSnapshot& now) {
    StageSnapshot& before = judged_[knob.stage];
    const std::int64_t samples = now.samples - before.samples;
    if (now.form_is_known || !now.parallel || samples < 2) return;
    const auto wall = static_cast<double>(now.sampled_wall_ns - before.sampled_wall_ns);
    const auto cpu = static_cast<double>(now.sampled_cpu_ns - before.sampled_cpu_ns);
    const bool long_enough = wall / static_cast<double>(samples) > kShortCall;
    const bool waits = 2 * (now.samples_that_waited - before.samples_that_waited) > samples;
    const bool blocks = long_enough && waits && cpu < (1 - kBlockingShare) * wall;
    const bool computes = samples >= 8 && (!waits || cpu > kComputingShare * wall);
    if (!now.on_pool && blocks) knob.set(1);
    if (now.on_pool && computes) knob.set(0);
    if (blocks || computes || samples >= 16) before = now;
  }

  // Doubling while every call is busy and the consumer waits: from 4 to 64 in four steps. Halving while most have nothing to do: each
  // is a thread that is woken in vain.
  void widen(Knob& knob, const Snapshot& all, const StageSnapshot& now, const StageSnapshot& before, double time) const {
    if (!now.on_pool && !now.completes_later) return;
    const double in_flight = static_cast<double>(now.slot_ns - before.slot_ns) / time;
    const bool busy = in_flight > kBusyShare * static_cast<double>(now.parallelism);
    const bool wanted = consumer_waits_ && now.blocked_ns - before.blocked_ns < static_cast<std::int64_t>(time / 2);
    const std::int64_t most = now.completes_later ? knob.high : std::min(knob.high, all.open_io_limit);
    if (busy && wanted && !now.waits_for_memory) knob.set(std::min(2 * now.parallelism, most));
    // Only where the user said that it waits: what comes back from the pool must have as many calls as when it went.
    const bool idle = now.completed > before.completed && in_flight < kIdleShare * static_cast<double>(now.parallelism);
    if (idle && now.on_pool && now.form_is_known) knob.set(std::max(now.parallelism / 2, knob.low));
  }

  // Grow when the consumer found it empty; cheap elements may wait by the thousand, dear ones only while they are few bytes.
  void tune_prefetch(Knob& knob, const Snapshot& now, std::int64_t taken) const {
    if (!consumer_starves_ || taken == 0 || now.stages.empty()) return;
    const StageSnapshot& last = now.stages.back();
    const std::int64_t each = last.elements_out > 0 ? last.bytes_out / last.elements_out : 0;
    const std::int64_t depth = 2 * now.consumer.prefetch;
    if (depth * std::max<std::int64_t>(each, 64) > kPrefetchBytes && depth > 4) return;
    if (depth <= std::max<std::int64_t>(taken, 4)) knob.set(std::min<std::int64_t>(depth, 1024));
  }

  Snapshot before_;
  std::map<int, StageSnapshot> judged_;  // by stage: when its placement was last looked at
  bool consumer_waits_ = false;
  bool consumer_starves_ = false;
};

}  // namespace

std::unique_ptr<Policy> default_policy() { return std::make_unique<DefaultPolicy>(); }

}  // namespace penstock::autotune
