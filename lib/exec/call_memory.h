// CallMemory: what one call may use of the run's memory, and what is known of its need beforehand.
//
// Whenever the stage's lock is free, what is reserved is charged to the run's budget, until it is given back, or
// settled when the call has ended.
//
// Thread safety: with the stage's lock held. But while the call runs, its thread changes `needs` and `reserved` without
// that lock. In an open call, OpenCall::mutex guards `reserved`, since a part that leaves takes its share of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace penstock::exec {

struct CallMemory {
  static constexpr std::int64_t kNoHint = -1;

  std::int64_t hint = kNoHint;  // bytes of the results, by the op's hint; kNoHint: not asked, or it cannot tell
  std::int64_t needs = 0;       // bytes that a broken-off call asked for on top
  std::int64_t reserved = 0;
  std::int64_t reserved_since = 0;  // on top of `reserved`: what others reserved for the call while it ran
  bool is_forced = false;           // started under the rule of progress: its own requests are granted, too

  bool has_hint() const noexcept { return hint >= 0; }
  // The share of one element, of so many in the call.
  std::int64_t hint_each(std::int64_t elements) const noexcept {
    return has_hint() ? hint / std::max<std::int64_t>(elements, 1) : kNoHint;
  }
  // The call gets other inputs than those that the op was asked about.
  void forget_hint() noexcept { hint = kNoHint; }
  void forget_needs() noexcept {
    needs = 0;
    forget_hint();
  }

  // `part` of the call's `whole` results leave before the others: the share of the memory that they take with them.
  CallMemory split_off(std::int64_t part, std::int64_t whole) noexcept {
    CallMemory share;
    share.reserved = reserved * part / whole;
    reserved -= share.reserved;
    share.hint = has_hint() ? hint * part / whole : kNoHint;
    if (has_hint()) hint -= share.hint;
    return share;
  }

  // What others have reserved for the call counts as its own from now on.
  void take_over() noexcept { reserved += std::exchange(reserved_since, 0); }
  std::int64_t let_go() noexcept { return std::exchange(reserved, 0) + std::exchange(reserved_since, 0); }
};

}  // namespace penstock::exec
