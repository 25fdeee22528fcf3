// ConsumerWait: the wait of a consumer that finds nothing, and when it is worth waking.
//
// A consumer that is faster than the pipeline would be woken for each element. So while more is about to come it sleeps
// on, although something is there, unless it was last woken long ago. After call() it wakes in any case: whoever calls
// it may be the last one to do so.
//
// Thread safety: with the outlet's lock held.
#pragma once

#include <cstdint>

#include <penstock/snapshot.h>

#include "lib/core/machine.h"

namespace penstock::exec {

class ConsumerWait {
 public:
  static constexpr std::int64_t kBetweenCalls = 6'000'000;  // ns: a wake-up that interrupts a worker costs some 20 us

  explicit ConsumerWait(const Machine& machine) : machine_(machine) {}

  // Returns the present moment.
  std::int64_t begin() noexcept {
    since_ns_ = machine_.now();
    ++waits_;
    is_under_way_ = true;
    is_called_ = false;
    return since_ns_;
  }
  void end() noexcept {
    wait_ns_ += machine_.now() - since_ns_;
    since_ns_ = 0;
    is_under_way_ = false;
  }

  bool is_under_way() const noexcept { return is_under_way_; }
  bool was_called_within(std::int64_t pause_ns) const noexcept { return machine_.now() - called_ns_ <= pause_ns; }
  // The consumer is to be woken. The caller then does that, without the lock.
  void call() noexcept {
    called_ns_ = machine_.now();
    is_called_ = true;
  }
  // Asked by a consumer when something is there. Also true some time after the last call: what was promised may not
  // come, and then nobody calls.
  bool is_worth_ending() const noexcept { return is_called_ || !was_called_within(kBetweenCalls); }

  void snapshot(ConsumerSnapshot& out) const {
    out.waits = waits_;
    out.waiting = since_ns_ != 0;
    out.wait_ns = wait_ns_ + (out.waiting ? machine_.now() - since_ns_ : 0);
  }

 private:
  const Machine& machine_;
  bool is_under_way_ = false;
  bool is_called_ = false;
  std::int64_t called_ns_ = 0;  // last
  std::int64_t since_ns_ = 0;   // 0: it does not wait
  std::int64_t waits_ = 0;
  std::int64_t wait_ns_ = 0;
};

}  // namespace penstock::exec
