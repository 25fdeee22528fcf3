#include "lib/exec/ports.h"

#include <algorithm>
#include <utility>

namespace penstock::exec {

void Ports::receive(std::size_t port, std::int64_t slots) {
  signs_.ports[port].occupied += slots;
  coming_[port] -= slots;
}

void Ports::note_changes(std::span<const std::size_t> ports) {
  if (changed_.size() + ports.size() <= changed_.capacity()) {
    changed_.insert(changed_.end(), ports.begin(), ports.end());
  } else {
    capacity_ = 0;  // all of them
  }
}

// One that gets nothing now gets it when more of it has been taken, which is a change; or the capacity has grown by so
// much that it matters.
CreditList Ports::top_up(std::int64_t capacity) {
  CreditList credits;
  if (4 * capacity > 5 * capacity_) {
    for (std::size_t port = 0; port < coming_.size(); ++port) top_up(port, capacity, credits);
    capacity_ = capacity;
  } else {
    for (const std::size_t port : changed_) top_up(port, capacity, credits);
    capacity_ = std::min(capacity_, capacity);
  }
  changed_.clear();
  return credits;
}

void Ports::top_up(std::size_t port, std::int64_t capacity, CreditList& credits) {
  const bool is_wanted = signs_.ports.is_wanted(port);
  if (!is_wanted && (traits_.one_at_a_time || !signs_.ports[port].soon)) return;
  const Tunable& fixed = traits_.plan.ports[port].buffer;
  const bool is_free = fixed.is_automatic() || traits_.one_at_a_time;
  const std::int64_t most = is_free ? capacity : std::max<std::int64_t>(fixed.low(), 1);
  const std::int64_t more = most - coming_[port] - signs_.ports[port].occupied;
  if (more <= 0 || 2 * more < most) return;
  coming_[port] += more;
  credits.push_back({port, more});
}

bool Ports::became_empty() {
  const std::int64_t before = std::exchange(wanted_, signs_.ports.wanted);
  if (before == MergeSigns::kAll || wanted_ == MergeSigns::kAll) {
    bool became = false;
    for (std::size_t port = 0; port < was_empty_.size(); ++port) became = became_empty(port) || became;
    return became;
  }
  if (before != wanted_ && before != MergeSigns::kNone) was_empty_[static_cast<std::size_t>(before)] = false;
  return wanted_ != MergeSigns::kNone && became_empty(static_cast<std::size_t>(wanted_));
}

bool Ports::became_empty(std::size_t port) {
  const bool is_empty = signs_.is_empty(port);
  const bool was_empty = was_empty_[port];
  was_empty_[port] = is_empty;
  return is_empty && !was_empty;
}

std::int64_t Ports::waiting() const noexcept {
  std::int64_t sum = 0;
  for (std::size_t port = 0; port < signs_.ports.size(); ++port) sum += signs_.ports[port].occupied;
  return sum;
}

}  // namespace penstock::exec
