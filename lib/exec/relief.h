// Relief: lends a thread without a CPU permit to a run whose stages wait for permits while none of its calls has any,
// or for threads of the pool, which silent sources may have all.
// If that lasts, calls of other runs may have all permits and wait for this very run, on threads of their own where
// nobody sees it.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "lib/exec/engine_state.h"

namespace penstock::exec {

class Relief {
 public:
  explicit Relief(EngineState& state) : state_(state) {}

  bool is_starved() const;  // its stages wait for CPU permits, and none of its calls has any
  // Lends the thread for as long as the run is starved. False, and nothing is done, if it has no work or no thread can
  // be had: ask again.
  // stands: its own calls have the permits, and wait. The thread stays until there is something for the consumer, or
  // the run is seen to move; and it comes even if the one lent before has not come back: that may wait, too, for what
  // other stages hold.
  bool relieve(bool stands = false);
  void moves() noexcept { stands_.store(false, std::memory_order_relaxed); }

 private:
  bool can_be_relieved(std::size_t stage) const;
  bool relieve_one();
  bool relieve_one(bool only_awaited);

  EngineState& state_;
  std::atomic<std::int64_t> lent_{0};  // threads, at this moment
  std::atomic<bool> stands_{false};    // as of the last look
};

}  // namespace penstock::exec
