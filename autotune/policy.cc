#include "autotune/policy.h"

#include <algorithm>

namespace penstock::autotune {

namespace {

constexpr std::int64_t kCalm = 2'000'000'000;  // ns without a move

Knob* find(std::vector<Knob>& knobs, int stage, std::string_view name) {
  const auto found = std::ranges::find_if(
      knobs, [&](const Knob& knob) { return knob.stage == stage && to_string(knob.kind) == name; });
  return found == knobs.end() ? nullptr : &*found;
}

bool is_on_pool(std::vector<Knob>& knobs, int stage) {
  const Knob* placement = find(knobs, stage, to_string(KnobKind::placement));
  return placement != nullptr && placement->get() == 1;
}

}  // namespace

// Numbers of calls last: where a stage runs says whether they take threads.
void Policy::begin_at(const std::vector<KnobValue>& remembered, std::vector<Knob>& knobs, std::int64_t open_io) {
  for (const bool calls : {false, true}) {
    for (const KnobValue& each : remembered) {
      Knob* knob = find(knobs, each.stage, each.knob);
      if (knob == nullptr || calls != (knob->kind == KnobKind::parallelism)) continue;
      const bool takes_threads = calls && is_on_pool(knobs, each.stage);
      const std::int64_t to = takes_threads ? std::min(each.value, open_io) : each.value;
      const std::int64_t stands_at = move(*knob, to, Reason::remembered, Snapshot(), each.value);
      if (takes_threads) open_io -= stands_at;
    }
  }
}

bool Policy::is_calm(std::int64_t time_ns) const noexcept { return time_ns - moved_ns_ > kCalm; }

StageLimits& Policy::limits_of(std::size_t stage) {
  if (limits_.size() <= stage) limits_.resize(stage + 1);
  return limits_[stage];
}

std::int64_t Policy::move(Knob& knob, std::int64_t to, Reason reason, const Snapshot& now, std::int64_t wanted) {
  const std::int64_t from = knob.get();
  if (knob.user_fixed) return from;
  to = std::clamp(to, knob.low, std::max(knob.low, knob.high));
  if (to == from) return from;
  knob.set(to);
  moved_ns_ = now.time_ns;
  log_.add({.time_ns = now.time_ns,
            .stage = knob.stage,
            .knob = std::string(to_string(knob.kind)),
            .from = from,
            .to = to,
            .wanted = wanted,
            .reason = reason});
  return to;
}

}  // namespace penstock::autotune
