#include "autotune/policy.h"

#include <algorithm>

namespace penstock::autotune {

void Policy::begin_at(const std::vector<KnobValue>& remembered, std::vector<Knob>& knobs) {
  for (const KnobValue& each : remembered) {
    for (Knob& knob : knobs) {
      if (knob.stage == each.stage && knob.name == each.knob) move(knob, each.value, Reason::remembered, Snapshot());
    }
  }
}

std::int64_t Policy::move(Knob& knob, std::int64_t to, Reason reason, const Snapshot& now, std::int64_t wanted) {
  const std::int64_t from = knob.get();
  if (knob.user_fixed) return from;
  to = std::clamp(to, knob.low, std::max(knob.low, knob.high));
  if (to == from) return from;
  knob.set(to);
  log_.add({.time_ns = now.time_ns, .stage = knob.stage, .knob = knob.name, .from = from, .to = to, .wanted = wanted, .reason = reason});
  return to;
}

}  // namespace penstock::autotune
