#include "autotune/decision_log.h"

#include <array>
#include <cstddef>
#include <utility>

namespace penstock {

const char* name_of(Reason reason) noexcept {
  static constexpr std::array kNames = {"remembered", "waits",      "computes",   "slow_start",      "feed_forward",
                                        "integral",   "knee",       "trim_probe", "up_probe",        "restore",
                                        "idle",       "byte_limit", "cpu_limit",  "io_limit",        "starved_consumer",
                                        "burst",      "drained",    "reordering", "consumer_slowed", "rule"};
  static_assert(kNames.size() == static_cast<std::size_t>(Reason::rule) + 1);
  const auto index = static_cast<std::size_t>(reason);
  return index < kNames.size() ? kNames[index] : "unknown";
}

namespace autotune {

void DecisionLog::add(Decision decision) {
  ++count_;
  last_.push_back(std::move(decision));
  if (last_.size() > kKept) last_.pop_front();
}

}  // namespace autotune
}  // namespace penstock
