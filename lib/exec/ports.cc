#include "lib/exec/ports.h"

#include <algorithm>

namespace penstock::exec {

void Ports::receive(std::size_t port, std::int64_t slots) {
  signs_.ports[port].occupied += slots;
  coming_[port] -= slots;
}

CreditList Ports::top_up(std::int64_t capacity) {
  CreditList credits;
  for (std::size_t port = 0; port < coming_.size(); ++port) {
    const PortSigns& signs = signs_.ports[port];
    if (!(traits_.one_at_a_time ? signs.wanted : signs.soon)) continue;
    const Tunable& fixed = traits_.plan.ports[port].buffer;
    const bool is_free = fixed.is_automatic() || traits_.one_at_a_time;
    const std::int64_t most = is_free ? capacity : std::max<std::int64_t>(fixed.low(), 1);
    const std::int64_t more = most - coming_[port] - signs.occupied;
    if (more <= 0 || 2 * more < most) continue;
    coming_[port] += more;
    credits.push_back({port, more});
  }
  return credits;
}

bool Ports::became_empty() {
  bool became = false;
  for (std::size_t port = 0; port < was_empty_.size(); ++port) {
    const bool is_empty = signs_.is_empty(port);
    became = became || (is_empty && !was_empty_[port]);
    was_empty_[port] = is_empty;
  }
  return became;
}

std::int64_t Ports::waiting() const noexcept {
  std::int64_t sum = 0;
  for (const PortSigns& port : signs_.ports) sum += port.occupied;
  return sum;
}

}  // namespace penstock::exec
