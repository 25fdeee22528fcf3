// Arrivals: packets that have come for the consumer and are not in its hands yet, and whether more will come.
//
// Behind a failure nothing is added any more: who takes from here has what came before it, and then the failure.
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

  // False: there is no memory for one packet more, or was none for one before this; or the run has failed.
  bool add(Slots& slots) noexcept {
    if (failure_) return false;
    try {
      if (!slots.empty()) packets_.push_back(std::move(slots));
    } catch (...) {
      failure_ = detail::current_failure();
    }
    return !failure_;
  }
  // The first one tells; others follow from it.
  void fail(std::exception_ptr cause) noexcept {
    if (!failure_) failure_ = std::move(cause);
  }
  // The oldest packet, in place of one that is empty. False: there is none.
  bool take(Slots& packet) noexcept {
    if (packets_.empty()) return false;
    std::swap(packet, packets_.front());
    packets_.pop_front();
    return true;
  }
  void let_go(Queue<Slots>& to) noexcept { packets_.swap(to); }

 private:
  Queue<Slots> packets_;
  std::exception_ptr failure_;
};

}  // namespace penstock::exec
