// PacketInHand: the packet that the consumer is taking from. It belongs to the consumer's thread, which would otherwise
// compete with the last stage for the outlet's lock at each element. It reports what it has taken in lumps.
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

  // Also at the end of a packet, however few were taken: it may be long until the next one comes.
  bool has_to_report() const noexcept { return unreported_ >= report_at_ || empty(); }
  // Returns how many were taken since the last report. The next report is due after `next_after` more, at least one.
  std::int64_t report(std::int64_t next_after) noexcept {
    report_at_ = std::max<std::int64_t>(next_after, 1);
    return std::exchange(unreported_, 0);
  }

  // What is in hand now.
  const Slots& slots() const noexcept { return slots_; }
  // An empty list, for the next packet. What is left of this one is destroyed.
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
