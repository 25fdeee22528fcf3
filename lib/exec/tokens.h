// Tokens: which tokens of a stage are out, which of them run a call, and which have a CPU permit.
//
// A token is permission to run the oldest waiting group, whichever that is when it starts. Whenever the stage's lock is
// free: detached <= running; with_permit <= out. When a token is handed out, out + detached <= parallelism + the groups
// in Folded's line (StageState::beyond_calls); Runner::help() may add to that.
//
// Thread safety: with the stage's lock held.
#pragma once

#include <cstdint>

#include "lib/exec/stage_signs.h"
#include "lib/exec/stage_traits.h"

namespace penstock::exec {

struct Tokens {
  std::int64_t out = 0;
  std::int64_t running =
      0;  // groups in a body, or whose results get their slots, which a visitor does without a token;
  std::int64_t detached = 0;  // of them, those that wait for a Completion: their tokens have gone on
  std::int64_t with_permit = 0;
  // fewer tokens were handed out than there may be work for: they are to be counted out again
  bool held_back = false;

  // Tokens that are out and do not run a call yet: each will take one group by itself.
  std::int64_t idle() const noexcept { return out - (running - detached); }
  std::int64_t calls() const noexcept { return out + detached; }

  void hand_out(bool has_permit) noexcept {
    with_permit += has_permit ? 1 : 0;
    ++out;
  }
  // A token ends. Returns whether it had a CPU permit: not if its stage was moved to the pool meanwhile.
  bool take_back(bool on_pool) noexcept {
    --out;
    const bool has_permit = !on_pool && with_permit > 0;
    with_permit -= has_permit ? 1 : 0;
    return has_permit;
  }
};

// FirstCalls: how many calls may run before anybody knows how many bytes their results hold. One, and one more each
// time that these take long, for calls may wait for each other.
class FirstCalls {
 public:
  FirstCalls(const StageTraits& traits, StageSigns& signs) : traits_(traits), signs_(signs) {}

  // How many calls may run at once. Before the first result nobody can tell what results hold, unless the op has a
  // hint. Calls that complete later are bounded otherwise (open_io).
  std::int64_t most(std::int64_t parallelism, std::int64_t completed) noexcept {
    const bool is_starting = completed == 0 && without_hint_ > 0 && traits_.begins_with_few && parallelism > 1;
    signs_.is_starting = is_starting;
    return is_starting && calls_ < parallelism ? calls_ : parallelism;
  }
  void begin(std::int64_t now) noexcept {
    if (changed_ns_ == 0) changed_ns_ = now;
  }
  // How long it is since the number was raised, or since the first call began.
  std::int64_t lasted(std::int64_t now) const noexcept { return now - changed_ns_; }
  void one_more(std::int64_t now) noexcept {
    ++calls_;
    changed_ns_ = now;
  }
  // False: the op has given no hint for so long that it is asked no more.
  bool may_have_hint() const noexcept { return without_hint_ < kAskedInVain; }
  // True: other calls have waited for this hint, and may begin now.
  bool note_hint(bool has_hint) noexcept {
    without_hint_ = has_hint ? 0 : without_hint_ + 1;
    return has_hint && signs_.is_starting;
  }

 private:
  static constexpr std::int64_t kAskedInVain = 16;

  const StageTraits& traits_;
  StageSigns& signs_;
  std::int64_t calls_ = 1;
  std::int64_t changed_ns_ = 0;  // when calls_ was raised, or the first call began; 0: none has
  std::int64_t without_hint_ =
      1;  // groups in a row of which the op could not foretell the size; not 0 before the first
};

}  // namespace penstock::exec
