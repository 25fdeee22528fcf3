// CallMemory: what one call may use of the run's memory, and what is known of its need beforehand.
//
// Whenever the stage's lock is free, what is reserved is on the run's books: until it is given back, or settled when
// the call has ended.
//
// Thread safety: with the stage's lock held. While the call runs, `needs` and `reserved` are its thread's, too, which
// does not hold that lock: of an open call OpenCall::mutex keeps `reserved`, since a part that leaves takes its share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace penstock::exec {

struct CallMemory {
  static constexpr std::int64_t kNoHint = -1;

  std::int64_t hint = kNoHint;  // bytes of the results as the op foretells them; none: not asked, or it cannot tell
  std::int64_t needs = 0;       // bytes that a broken-off call asked for on top
  std::int64_t reserved = 0;
  std::int64_t reserved_since = 0;  // on top, while it ran: by others, with the stage's lock held
  bool is_forced = false;           // started under the rule of progress: its own requests are granted, too

  bool has_hint() const noexcept { return hint >= 0; }
  // Of what one of so many elements becomes.
  std::int64_t hint_each(std::int64_t elements) const noexcept {
    return has_hint() ? hint / std::max<std::int64_t>(elements, 1) : kNoHint;
  }
  // Other inputs than it was asked for.
  void forget_hint() noexcept { hint = kNoHint; }
  void forget_needs() noexcept {
    needs = 0;
    forget_hint();
  }

  // What `part` of `whole` results take with them that leave before the others.
  CallMemory split_off(std::int64_t part, std::int64_t whole) noexcept {
    CallMemory share;
    share.reserved = reserved * part / whole;
    reserved -= share.reserved;
    share.hint = has_hint() ? hint * part / whole : kNoHint;
    if (has_hint()) hint -= share.hint;
    return share;
  }

  // All of it is this call's now.
  void take_over() noexcept { reserved += std::exchange(reserved_since, 0); }
  std::int64_t let_go() noexcept { return std::exchange(reserved, 0) + std::exchange(reserved_since, 0); }
};

}  // namespace penstock::exec
