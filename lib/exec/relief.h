// Relief: lends a thread without a CPU permit to a run whose stages wait for permits while none of its calls has any.
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
  // Lends the thread for as long as the run is starved. Does nothing if no thread can be had: ask again.
  // once_more: even if the thread lent before has not come back. It may wait, too, for what other stages hold.
  void relieve(bool once_more = false);

 private:
  bool relieve_one();

  EngineState& state_;
  std::atomic<std::int64_t> lent_{0};  // threads, at this moment
};

}  // namespace penstock::exec
