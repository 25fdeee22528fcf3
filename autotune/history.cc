#include "autotune/history.h"

namespace penstock::autotune {
namespace {

constexpr std::int64_t kPeriod = 250'000'000;  // ns
constexpr std::size_t kPeriodsKept = 16;
constexpr std::int64_t kShort = 500'000'000, kLong = 2'000'000'000;  // ns
constexpr std::int64_t kManyDelivered = 32, kFewDelivered = 4;       // elements delivered

// Whether what happened since then is worth an explanation: a change is to be seen soon, but a rate is not to be made
// of two elements.
bool is_enough(const Snapshot& before, const Snapshot& now) {
  const std::int64_t age = now.time_ns - before.time_ns, taken = now.consumer.taken - before.consumer.taken;
  return (age >= kShort && taken >= kManyDelivered) || (age >= kLong && taken >= kFewDelivered);
}

// A nest's window is full whenever as many datasets are open as may be: calls that are free then have none to read,
// whatever the order.
bool is_held_up_by_window(const StageSnapshot& stage) {
  const bool may_start =
      stage.running > 0 && stage.running < stage.parallelism && stage.credits > 0 && stage.ready == 0;
  const bool is_bounded = stage.ordered || stage.cycle_length > 0;
  return is_bounded && stage.parallel && may_start && stage.in_window >= stage.window;
}

}  // namespace

void Looks::add(const Snapshot& now) {
  ++count;
  cpu_permits += static_cast<double>(now.cpu_slots_in_use);
  memory += static_cast<double>(now.memory_used);
  stages.resize(now.stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    stages[i].memory += now.stages[i].waits_for_memory;
    stages[i].calls += now.stages[i].parallelism;
    stages[i].window += is_held_up_by_window(now.stages[i]);
  }
}

void Looks::add(const Looks& others) {
  count += others.count;
  cpu_permits += others.cpu_permits;
  memory += others.memory;
  if (stages.size() < others.stages.size()) stages.resize(others.stages.size());
  for (std::size_t i = 0; i < others.stages.size(); ++i) {
    stages[i].memory += others.stages[i].memory;
    stages[i].calls += others.stages[i].calls;
    stages[i].window += others.stages[i].window;
  }
}

void History::look(const Snapshot& now) {
  if (periods_.empty()) periods_.push_back({std::make_shared<const Snapshot>(), {}});
  if (now.time_ns - periods_.back().begin->time_ns >= kPeriod)
    periods_.push_back({std::make_shared<const Snapshot>(now), {}});
  if (periods_.size() > kPeriodsKept) periods_.pop_front();
  periods_.back().looks.add(now);
  all_.add(now);
}

Window History::recent(const Snapshot& now) const {
  Window window{.before = {}, .now = now, .looks = {}, .steps = {}};
  bool enough = false;
  for (std::size_t i = periods_.size(); i-- > 0;) {
    const Period& period = periods_[i];
    window.steps.insert(window.steps.begin(), period.begin);
    if (enough) continue;
    window.looks.add(period.looks);
    enough = is_enough(*period.begin, now);
    window.before = *period.begin;
  }
  return window;
}

Window History::whole(const Snapshot& now) const {
  Window window = recent(now);
  window.before = {};
  window.looks = all_;
  return window;
}

}  // namespace penstock::autotune
