#include "lib/exec/relief.h"

#include <algorithm>

namespace penstock::exec {

bool Relief::is_starved() const {
  if (!state_.at_gate || state_.at_gate->in_use() > 0) return false;
  return std::ranges::any_of(state_.stages, [](const auto& stage) { return stage->signs().waits_for_permit.load(); });
}

// Not a thread for nothing: who waits for a permit may have no work left.
bool Relief::relieve(bool stands) {
  bool has_work = false;
  for (std::size_t i = 0; i < state_.stages.size() && !has_work; ++i) has_work = can_be_relieved(i);
  if (!has_work) return false;
  const bool has_been = lent_.fetch_add(1) > 0;
  stands_.store(stands, std::memory_order_relaxed);
  const bool has_thread = (stands || !has_been) && state_.launcher->try_on_pool([this] {
    const auto stands_still = [this] { return stands_.load(std::memory_order_relaxed) && !state_.outlet.has_slots(); };
    while (relieve_one() && (is_starved() || stands_still())) {
    }
    --lent_;
  });
  if (!has_thread) --lent_;
  return has_thread;
}

// What branches read ahead does not help who waits.
bool Relief::relieve_one() { return relieve_one(true) || relieve_one(false); }

bool Relief::can_be_relieved(std::size_t stage) const {
  return state_.stages[stage]->can_be_relieved(state_.neighbours.is_awaited(stage));
}

// Only those who wait for a place to run: a call of another may block for long.
bool Relief::relieve_one(bool only_awaited) {
  for (std::size_t i = state_.stages.size(); i-- > 0;) {
    if (only_awaited && !state_.neighbours.is_awaited(i)) continue;
    if (can_be_relieved(i) && state_.stages[i]->help()) return true;
  }
  return false;
}

}  // namespace penstock::exec
