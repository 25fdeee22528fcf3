// StageSigns: what others may know of a stage without its lock: the stages before and behind it, the engine, whoever
// waits for elements.
//
// Each sign but `dropped` is written with the stage's lock held. Anybody may read it at any time; it may change in the
// next moment. Who must not miss a change first writes its own sign and then reads the other one; both are
// sequentially consistent.
#pragma once

#include <atomic>
#include <cstdint>

#include "lib/core/cache_line.h"

namespace penstock::exec {

struct StageSigns {
  // Seldom written, and read by others for each of their tokens.
  // Bytes that the stage was refused while most of its calls stood idle. Stages upstream must leave them free: they
  // would only bring it more to do.
  alignas(kCacheLine) std::atomic<std::int64_t> claim{0};
  std::atomic<bool> waits_for_memory{false};
  std::atomic<bool> waits_for_permit{false};
  std::atomic<bool> has_folded{false};  // results that have no slots yet, and nothing before them
  std::atomic<bool> on_pool{false};

  // Written with each call.
  alignas(kCacheLine) std::atomic<std::int64_t> occupied{
      0};  // slots that wait, or have not left the ring; one more while a packet is sent
  std::atomic<std::int64_t> open_calls{0};      // whether looking after them is worth the lock
  std::atomic<std::int64_t> dropped{0};         // errors that ops have left out for good
  std::atomic<bool> cheap{false}, busy{false};  // see Neighbours::brings_soon()
  std::atomic<bool> is_starting{false};         // few calls may run, for nobody knows what their results hold

  bool is_empty() const noexcept { return occupied.load() == 0; }
};

}  // namespace penstock::exec
