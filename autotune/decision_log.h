// DecisionLog: the last moves of a policy, with their reasons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include <penstock/decision.h>

namespace penstock::autotune {

class DecisionLog {
 public:
  static constexpr std::size_t kKept = 256;

  void add(Decision decision);
  const std::deque<Decision>& last() const noexcept { return last_; }  // oldest first
  std::int64_t count() const noexcept { return count_; }               // all there ever were

 private:
  std::deque<Decision> last_;
  std::int64_t count_ = 0;
};

}  // namespace penstock::autotune
