#include "lib/exec/port_news.h"

#include <algorithm>
#include <utility>

namespace penstock::exec {
namespace {

constexpr std::size_t kNear = 8;  // inputs, of which the state is asked whenever it wants another one

std::int64_t which(const Want& wanted) {
  switch (wanted.kind) {
    case Want::Kind::one: return static_cast<std::int64_t>(wanted.input);
    case Want::Kind::all: return MergeSigns::kAll;
    case Want::Kind::own:
    case Want::Kind::nothing: break;
  }
  return MergeSigns::kNone;
}

}  // namespace

PortNews::PortNews(std::size_t ports) : ports_(ports) { changes_.reserve(ports); }

void PortNews::begin_run() noexcept {
  for (const std::size_t port : changes_) ports_[port].is_noted = false;
  changes_.clear();
}

void PortNews::note(std::size_t port) {
  if (!std::exchange(ports_[port].is_noted, true)) changes_.push_back(port);
}

void PortNews::tell_of_taken(std::size_t port) {
  if (const auto untold = std::exchange(ports_[port].untold, 0); untold > 0) (*signs_)[port].occupied -= untold;
}

void PortNews::tell(const Want& wanted, const MergeState& state) {
  for (const std::size_t port : changes_) tell_of_taken(port);
  const bool is_another =
      wanted.kind == Want::Kind::one && which(wanted) != signs_->wanted.load(std::memory_order_relaxed);
  if (4 * steps_ >= ports_.size()) {
    steps_ = 0;
    tell_of_soon(state, 0, ports_.size());
  } else if (is_another) {
    tell_of_soon(state, wanted.input, std::min(kNear, ports_.size()));
  }
  tell_of_wanted(which(wanted));
}

// Of so many inputs, in a circle.
void PortNews::tell_of_soon(const MergeState& state, std::size_t first, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t port = (first + i) % ports_.size();
    std::atomic<bool>& sign = (*signs_)[port].soon;
    const bool soon = state.soon(port);
    if (sign.load(std::memory_order_relaxed) == soon) continue;
    sign = soon;
    note(port);
  }
}

void PortNews::tell_of_wanted(std::int64_t wanted) {
  if (signs_->wanted.load(std::memory_order_relaxed) == wanted) return;
  signs_->wanted = wanted;
  if (wanted >= 0) note(static_cast<std::size_t>(wanted));
  for (std::size_t port = 0; wanted == MergeSigns::kAll && port < ports_.size(); ++port) note(port);
}

}  // namespace penstock::exec
