// PacketInHand: the packet that the consumer is taking from. It is the consumer's own, who would otherwise meet the
// last stage at the lock for each element; what has been taken of it is reported to the outlet in lumps.
//
// Thread safety: the consumer's thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "lib/exec/packet.h"

namespace penstock::exec {

class PacketInHand {
 public:
  bool empty() const noexcept { return taken_ == slots_.size(); }
  Slot& next() noexcept {
    ++unreported_;
    return slots_[taken_++];
  }

  // At the end of a packet in any case: the next one may be long in coming.
  bool has_to_report() const noexcept { return unreported_ >= report_at_ || empty(); }
  // How many have been taken since the last report; the next one is due after so many, or one.
  std::int64_t report(std::int64_t next_after) noexcept {
    report_at_ = std::max<std::int64_t>(next_after, 1);
    return std::exchange(unreported_, 0);
  }

  // What is in hand now.
  const Slots& slots() const noexcept { return slots_; }
  // For another packet. What is left of this one is destroyed.
  Slots& make_room() noexcept {
    slots_.clear();
    taken_ = 0;
    return slots_;
  }
  Slots let_go() noexcept {
    taken_ = 0;
    return std::exchange(slots_, {});
  }

 private:
  Slots slots_;
  std::size_t taken_ = 0;
  std::int64_t unreported_ = 0;
  std::int64_t report_at_ = 1;
};

}  // namespace penstock::exec
