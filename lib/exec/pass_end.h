// PassEnd: the mark that ends a group. A pass end is always a group's last slot: admission ends a group behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <penstock/op.h>

namespace penstock::exec {

inline constexpr std::uint64_t kSequences = 0xFFFF'FFFF'FFFF;  // what Stamp::sequence has room for

struct PassEnd {
  std::uint8_t level = 0;  // how many repeats end with the pass
  std::uint64_t sequence = 0;

  // None: the slot is no mark.
  static std::optional<PassEnd> of(const Slot& slot) noexcept {
    if (slot.kind() != Slot::Kind::pass_end) return std::nullopt;
    return PassEnd{slot.level(), slot.stamp.sequence};
  }

  // Of an op with so many repeats upstream: whether its input ends.
  bool ends_input(std::size_t depth) const noexcept { return level >= depth; }
};

}  // namespace penstock::exec
