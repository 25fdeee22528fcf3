// Ports: how much room a merge has promised each of its inputs. The slots that have come are the body's (MergeBody);
// how many they are is in PortSigns.
//
// Whenever the stage's lock is free: of each input, coming_ = credits given and not yet used. Together with what has
// come it is at most the capacity at the last top_up(). Only an input that is read soon gets credits; in the serial
// executor only one that is wanted now.
//
// Thread safety: with the stage's lock held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <penstock/detail/pooled.h>

#include "lib/exec/stage_signs.h"
#include "lib/exec/stage_traits.h"

namespace penstock::exec {

// For the stage that feeds this port.
struct Credits {
  std::size_t port = 0;
  std::int64_t count = 0;
};

using CreditList = std::vector<Credits, detail::PooledAllocator<Credits>>;

class Ports {
 public:
  Ports(const StageTraits& traits, StageSigns& signs)
      : traits_(traits), signs_(signs), coming_(traits.plan.ports.size()), was_empty_(traits.plan.ports.size()) {}

  void receive(std::size_t port, std::int64_t slots);
  // New credits, up to this capacity, where the user has not fixed another. None while they are less than half of it.
  CreditList top_up(std::int64_t capacity);
  // Whether an input has become empty, and is wanted, since this was asked last. StageSigns::occupied is up to date.
  bool became_empty();
  std::int64_t waiting() const noexcept;  // slots

 private:
  const StageTraits& traits_;
  StageSigns& signs_;
  std::vector<std::int64_t> coming_;
  std::vector<bool> was_empty_;
};

}  // namespace penstock::exec
