#include "autotune/traffic.h"

#include <algorithm>
#include <cmath>

#include "autotune/numbers.h"

namespace penstock::autotune {
namespace {

constexpr double kMoment = 0.1;          // s: what "now" means, where elements come faster than that
constexpr double kShortestPause = 0.03;  // s without a request: more than so,
constexpr double kLonger = 2;            // and more than so many times as long as is usual
constexpr double kUsualMemory = 0.5;     // s of taking elements: how long a time without a request is remembered
constexpr double kVisitMemory = 10;      // s: how long counts of elements in and out are remembered
constexpr double kShareMemory = 1;       // s: how long at least those of branches are that are wanted more than before,
constexpr double kShareElements = 100;   // and so many elements, since chance chooses among them

// How much of an average is new after `time`, where it reaches back `memory`.
double weight(double time, double memory) { return 1 - std::exp(-time / memory); }

void approach(double& average, double value, double share) { average += share * (value - average); }

}  // namespace

void TrafficMeter::read(const Snapshot& now, const std::vector<double>& cpu_s, Traffic& traffic) {
  const double time = std::max(static_cast<double>(now.time_ns - last_.time_ns) / 1e9, 1e-6);
  if (counts_.size() != now.stages.size()) feed_merges_ = feed_merges(now);
  counts_.resize(now.stages.size());
  read_consumer(now, time, traffic);
  read_cpus(now, cpu_s, time, traffic);
  read_process(now, time, traffic);
  read_visits(now, time, traffic);
  last_ = {now.time_ns, now.process_cpu_ns, now.workers_cpu_ns, now.consumer_cpu_ns, now.consumer};
  for (std::size_t i = 0; i < now.stages.size(); ++i) {
    counts_[i].completed = now.stages[i].completed;
    counts_[i].made = now.stages[i].made;
    counts_[i].elements_out = now.stages[i].elements_out;
  }
}

void TrafficMeter::read_consumer(const Snapshot& now, double time, Traffic& traffic) {
  const double taken = static_cast<double>(now.consumer.taken - last_.consumer.taken);
  const double waited = static_cast<double>(now.consumer.wait_ns - last_.consumer.wait_ns) / 1e9;
  if (taken > 0) usual_idle_s_ *= 1 - weight(time, kUsualMemory);  // while it waits it shows nothing of its habits
  pause_or_go_on(taken > 0 || waited > 0, time);
  // Of a consumer that takes an element every second, a tenth of one says nothing.
  const double memory = std::max(kMoment, delivered_ > 0 ? std::min(3 / delivered_, 10.0) : kMoment);
  approach(wait_share_, std::clamp(waited / time, 0.0, 1.0), weight(time, memory));
  approach(delivered_, taken / time, weight(time, memory));
  traffic.idle = is_idle();
  traffic.wait_share = traffic.idle ? wait_share_then_ : wait_share_;
  traffic.delivered = traffic.idle ? delivered_then_ : delivered_;
  traffic.demand =
      traffic.delivered > 0 && traffic.wait_share < 0.95 ? traffic.delivered / (1 - traffic.wait_share) : kUnbounded;
}

// One that validates a model, or writes a checkpoint, asks for nothing for a while, and then for as much as before.
void TrafficMeter::pause_or_go_on(bool active, double time) {
  if (!active && idle_s_ == 0) {
    wait_share_then_ = wait_share_;
    delivered_then_ = delivered_;
  }
  const bool was_idle = is_idle();
  if (active) usual_idle_s_ = std::max(usual_idle_s_, idle_s_);
  idle_s_ = active ? 0 : idle_s_ + time;
  if (!active || !was_idle) return;
  wait_share_ = wait_share_then_;
  delivered_ = delivered_then_;
}

bool TrafficMeter::is_idle() const noexcept {
  const double usual = std::max(usual_idle_s_, 1 / std::max(delivered_then_, 1e-3));
  return idle_s_ > std::max(kShortestPause, kLonger * usual);
}

void TrafficMeter::read_cpus(const Snapshot& now, const std::vector<double>& cpu_s, double time, Traffic& traffic) {
  rates_.resize(now.stages.size());
  double used = 0;
  const double share = weight(time, kMoment);
  for (std::size_t i = 0; i < now.stages.size(); ++i) {
    approach(rates_[i], static_cast<double>(now.stages[i].completed - counts_[i].completed) / time, share);
    used += rates_[i] * cpu_s[i];
  }
  if (now.consumer.cpu_ns >= 0 && last_.consumer.cpu_ns >= 0) {
    const double used_by_it = static_cast<double>(now.consumer.cpu_ns - last_.consumer.cpu_ns) / 1e9 / time;
    approach(consumer_cpu_, std::clamp(used_by_it, 0.0, 1.0), weight(time, 5 * kMoment));
  }
  traffic.cpus = std::max(now.cpu_budget - consumer_cpu_, 0.1 * now.cpu_budget);
  // Permits that are all taken bound the rate even where other processes use the CPUs.
  double computing = 0;
  for (const StageSnapshot& stage : now.stages)
    if (!stage.on_pool && !stage.completes_later) computing += static_cast<double>(stage.running);
  const double taken = computing / std::max(std::ceil(now.cpu_budget - 0.01), 1.0);
  approach(cpu_share_, std::min(taken, 1.0), share);
  traffic.cpu_share = std::max(cpu_share_, used / traffic.cpus);
}

// Threads that users' functions start are invisible to the clocks of ours.
void TrafficMeter::read_process(const Snapshot& now, double time, Traffic& traffic) {
  traffic.unattributed_cpu_s = 0;
  const auto used = [&](std::int64_t after, std::int64_t before) {
    return static_cast<double>(after - before) / 1e9 / time;
  };
  if (last_.process_cpu_ns < 0 || last_.workers_cpu_ns < 0) return;
  const double consumer =
      now.consumer_cpu_ns < 0 ? 0 : used(now.consumer_cpu_ns, std::max<std::int64_t>(last_.consumer_cpu_ns, 0));
  const double workers = used(now.workers_cpu_ns, last_.workers_cpu_ns);
  // Over many of their readings, which are further apart than ticks.
  approach(unattributed_cpu_, used(now.process_cpu_ns, last_.process_cpu_ns) - consumer - workers,
           weight(time, 10 * kMoment));
  const double noticeable = 0.1;  // cores
  if (unattributed_cpu_ > noticeable && delivered_ > 0) traffic.unattributed_cpu_s = unattributed_cpu_ / delivered_;
}

void TrafficMeter::read_visits(const Snapshot& now, double time, Traffic& traffic) {
  ratios_.assign(now.stages.size(), Ratios());
  const double kept = 1 - weight(time, kVisitMemory);
  for (std::size_t i = 0; i < now.stages.size(); ++i) {
    const StageSnapshot& stage = now.stages[i];
    Counts& counts = counts_[i];
    counts.results.add(kept, as_double(stage.made - counts.made), as_double(stage.completed - counts.completed));
    ratios_[i].results = ratio_or_one(counts.results.part, counts.results.whole);
    if (feed_merges_[i]) add_share(now, time, i);
  }
  visits_of(now, ratios_, traffic.visits);
}

// A branch that is wanted more than before, as the second of those that come one after the other, has to have its calls
// soon; one that is wanted less may keep them for a while.
void TrafficMeter::add_share(const Snapshot& now, double time, std::size_t stage) {
  Counts& counts = counts_[stage];
  const auto next = static_cast<std::size_t>(now.stages[stage].feeds);
  const double given = as_double(now.stages[stage].elements_out - counts.elements_out);
  const double taken = as_double(now.stages[next].completed - counts_[next].completed);
  const double of_late = std::clamp(kShareElements / std::max(rates_[next], 1e-3), kShareMemory, kVisitMemory);
  counts.share.add(1 - weight(time, kVisitMemory), given, taken);
  counts.share_of_late.add(1 - weight(time, of_late), given, taken);
  ratios_[stage].share = std::max(share_or_one(counts.share.part, counts.share.whole),
                                  share_or_one(counts.share_of_late.part, counts.share_of_late.whole));
}

void TrafficMeter::Part::add(double kept, double more, double of) {
  part = part * kept + more;
  whole = whole * kept + of;
}

}  // namespace penstock::autotune
