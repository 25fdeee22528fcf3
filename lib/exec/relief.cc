#include "lib/exec/relief.h"

#include <algorithm>

namespace penstock::exec {

bool Relief::is_starved() const {
  if (!state_.at_gate || state_.at_gate->in_use() > 0) return false;
  return std::ranges::any_of(state_.stages, [](const auto& stage) { return stage->signs().waits_for_permit.load(); });
}

// Not a thread for nothing: who waits for a permit may have no work left.
void Relief::relieve(bool once_more) {
  if (std::ranges::none_of(state_.stages, [](const auto& stage) { return stage->can_be_relieved(); })) return;
  const bool has_been = lent_.fetch_add(1) > 0;
  const bool has_thread = (once_more || !has_been) && state_.launcher->try_on_pool([this] {
    while (relieve_one() && is_starved()) {
    }
    --lent_;
  });
  if (!has_thread) --lent_;
}

// Only those who wait for a CPU permit: a call of another may block for long.
bool Relief::relieve_one() {
  for (std::size_t i = state_.stages.size(); i-- > 0;) {
    if (state_.stages[i]->can_be_relieved() && state_.stages[i]->help()) return true;
  }
  return false;
}

}  // namespace penstock::exec
