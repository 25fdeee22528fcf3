// Arrivals: packets that have come for the consumer and are not in its hands yet, and whether more will come.
//
// After a failure no packet is added any more. The consumer gets the packets that came before it, and then the failure.
//
// Thread safety: with the outlet's lock held.
#pragma once

#include <exception>
#include <utility>

#include <penstock/op.h>

#include "lib/exec/packet.h"

namespace penstock::exec {

class Arrivals {
 public:
  bool empty() const noexcept { return packets_.empty(); }
  // Whoever waits need not wait any more.
  bool has_news() const noexcept { return !packets_.empty() || failure_; }
  const std::exception_ptr& failure() const noexcept { return failure_; }  // null: all is well

  // False: the packet was not added, because the run has failed, or there is no memory for the packet, which is a
  // failure from now on.
  bool add(Slots& slots) noexcept {
    if (failure_) return false;
    try {
      if (!slots.empty()) packets_.push_back(std::move(slots));
    } catch (...) {
      failure_ = detail::current_failure();
    }
    return !failure_;
  }
  // The first failure is kept: those that come later follow from it.
  void fail(std::exception_ptr cause) noexcept {
    if (!failure_) failure_ = std::move(cause);
  }
  // Swaps the oldest packet for `packet`, which is empty. False: there is none.
  bool take(Slots& packet) noexcept {
    if (packets_.empty()) return false;
    std::swap(packet, packets_.front());
    packets_.pop_front();
    return true;
  }

 private:
  Queue<Slots> packets_;
  std::exception_ptr failure_;
};

}  // namespace penstock::exec
