#include "lib/exec/noted_points.h"

#include <algorithm>
#include <utility>

namespace penstock::exec {

std::int64_t NotedPoints::bytes_of(const NotedPoint& noted) noexcept {
  return noted.point != nullptr ? noted.point->bytes() : 0;
}

void NotedPoints::note(NotedPoint noted) {
  noted_.push_back(std::move(noted));
  bytes_ += bytes_of(noted_.back());
  if (noted_.size() <= kMost) return;
  for (std::size_t i = 1; i + 1 < noted_.size(); ++i) forget(i, i + 1);
}

const NotedPoint* NotedPoints::last_before(std::int64_t pass, std::int64_t input) {
  const auto behind = std::ranges::upper_bound(noted_, std::tuple(pass, input), {}, &NotedPoint::place);
  if (behind == noted_.begin()) return nullptr;
  forget(0, static_cast<std::size_t>(behind - noted_.begin()) - 1);
  return noted_.front().pass == pass ? &noted_.front() : nullptr;
}

void NotedPoints::forget(std::size_t begin, std::size_t end) {
  const auto first = noted_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = noted_.begin() + static_cast<std::ptrdiff_t>(end);
  for (auto gone = first; gone != last; ++gone) bytes_ -= bytes_of(*gone);
  noted_.erase(first, last);
}

void NotedPoints::clear() noexcept {
  noted_.clear();
  bytes_ = 0;
}

}  // namespace penstock::exec
