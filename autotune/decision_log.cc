#include "autotune/decision_log.h"

#include <utility>

namespace penstock {

const char* name_of(Reason reason) noexcept {
  switch (reason) {
    case Reason::remembered: return "remembered";
    case Reason::waits: return "waits";
    case Reason::computes: return "computes";
    case Reason::slow_start: return "slow_start";
    case Reason::feed_forward: return "feed_forward";
    case Reason::integral: return "integral";
    case Reason::knee: return "knee";
    case Reason::trim_probe: return "trim_probe";
    case Reason::up_probe: return "up_probe";
    case Reason::restore: return "restore";
    case Reason::idle: return "idle";
    case Reason::byte_limit: return "byte_limit";
    case Reason::cpu_limit: return "cpu_limit";
    case Reason::io_limit: return "io_limit";
    case Reason::starved_consumer: return "starved_consumer";
    case Reason::burst: return "burst";
    case Reason::drained: return "drained";
    case Reason::reordering: return "reordering";
    case Reason::consumer_slowed: return "consumer_slowed";
    case Reason::rule: return "rule";
  }
  return "unknown";
}

namespace autotune {

void DecisionLog::add(Decision decision) {
  ++count_;
  last_.push_back(std::move(decision));
  if (last_.size() > kKept) last_.pop_front();
}

}  // namespace autotune
}  // namespace penstock
