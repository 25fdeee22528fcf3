// Stage: who is woken for memory. A thread that is woken for a call that finds none is woken in vain; where hundreds of calls are allowed and
// memory is short, all of them were, for each element that left.
#include "lib/exec/stage.h"

namespace penstock::exec {

// Whether one token more, behind those that are out and have reserved nothing yet, may find memory for its call.
bool Stage::has_room(std::int64_t tokens_before) {
  if (plan_.passes_memory_on || one_at_a_time_) return true;
  const std::int64_t bytes = expected_bytes(*ready_.front());
  const std::int64_t kept = host_.memory_claimed_behind(index_);
  if (host_.memory().has_room((tokens_before + 1) * bytes, kept)) return true;
  held_back_ = tokens_before > 0;  // whoever of those gets its memory looks again; who gets none waits for all
  return !held_back_ && !wait_for_memory(bytes, kept);
}

// What a token does that is refused, without the thread. False: the call may begin all the same, or by now.
bool Stage::wait_for_memory(std::int64_t bytes, std::int64_t kept) {
  waits_for_memory_ = true;
  if (2 * running_ < parallelism_) claim_ = bytes;
  host_.memory().note_need(bytes + kept);
  // Looked at behind the flag: who makes room, or takes the last element of what follows, sees it and wakes this stage.
  if (!host_.memory().has_room(bytes, kept) && !may_force(*ready_.front())) return true;
  waits_for_memory_ = false;
  return false;
}

}  // namespace penstock::exec
