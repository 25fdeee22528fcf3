// Ports: how much room a merge has promised each of its inputs. The slots that have come are the body's (MergeBody);
// how many they are is in PortSigns.
//
// Whenever the stage's lock is free: of each input, coming_ = credits given and not yet used. Together with what has
// come it is at most the capacity at the last top_up(). Only an input that is read soon gets credits; in the serial
// executor only one that is wanted now.
//
// There may be a thousand inputs, and slots of a few in each run: only those are looked at that have changed.
//
// Thread safety: with the stage's lock held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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
      : traits_(traits), signs_(signs), coming_(signs.ports.size()), was_empty_(signs.ports.size()) {
    changed_.reserve(signs.ports.size());
  }

  void receive(std::size_t port, std::int64_t slots);
  // New credits, up to this capacity, where the user has not fixed another. None while they are less than half of it.
  CreditList top_up(std::int64_t capacity);
  // What has been taken of these, or whether they are wanted, is not what it was at the last top_up().
  void note_changes(std::span<const std::size_t> ports);
  // Whether an input has become empty, and is wanted, since this was asked last. StageSigns::occupied is up to date.
  bool became_empty();
  std::int64_t waiting() const noexcept;  // slots

 private:
  void top_up(std::size_t port, std::int64_t capacity, CreditList& credits);
  bool became_empty(std::size_t port);

  const StageTraits& traits_;
  StageSigns& signs_;
  std::vector<std::int64_t> coming_;
  std::vector<std::size_t> changed_;         // since the last top_up()
  std::int64_t capacity_ = 0;                // at the last one that looked at all of them, or less
  std::vector<bool> was_empty_;              // when became_empty() was asked last
  std::int64_t wanted_ = MergeSigns::kNone;  // then
};

}  // namespace penstock::exec
