// Delivery: the consumer's side of an engine. Takes slots from the outlet, and waits for them; while it waits, its
// thread looks after open calls. A call of another run that waits here lends its CPU permit meanwhile.
//
// Thread safety: one thread at a time, the consumer's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "lib/exec/engine_state.h"

namespace penstock::exec {

class Delivery {
 public:
  explicit Delivery(EngineState& state);

  // The next slot of any kind. False: the deadline, a moment of the machine, has passed. Throws why the run was given
  // up, if it was.
  bool next(Slot& slot, std::int64_t deadline);
  std::uint64_t sequence() const noexcept { return sequence_; }  // of the pass that the consumer is in
  void free_reserve() noexcept { reserve_.reset(); }             // by who shuts down

 private:
  bool take(Slot& slot);
  void check_given_up();
  bool wait(std::int64_t deadline);
  std::chrono::nanoseconds look_around();

  EngineState& state_;
  std::chrono::nanoseconds look_pause_ = std::chrono::milliseconds(4);
  std::uint64_t sequence_ = 0;
  std::unique_ptr<std::byte[]> reserve_;  // to shut down takes some memory, and there may be none
};

}  // namespace penstock::exec
