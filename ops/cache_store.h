// CacheStore: what a cache remembers: the slots of one sequence, from the first one on. It only grows, and a slot that
// is there stays where it is and does not change: who reads it holds no lock.
//
// Thread safety: any thread.
#pragma once

#include <penstock/slot.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lib/base/mutex.h"

namespace penstock::ops {

class CacheStore {
 public:
  struct View {
    std::span<const Slot> slots;  // that follow each other; more may come behind them
    bool has_ended = false;       // there are none, and there will be none
  };
  enum class Added : std::uint8_t { yes, too_late, no_room };

  // `max_bytes`: of the slots and what they hold.
  explicit CacheStore(std::int64_t max_bytes) : max_bytes_(max_bytes) {}

  View from(std::size_t number) const EXCLUDES(mutex_);
  std::size_t size() const EXCLUDES(mutex_);
  std::int64_t max_bytes() const noexcept { return max_bytes_; }
  // Adds the slot if it has the next number: two runs that make the same elements add each of them once. Throws
  // std::bad_alloc, and is then as it was.
  Added add(std::size_t number, Slot&& slot) EXCLUDES(mutex_);
  // The sequence ends behind what is there.
  void end() EXCLUDES(mutex_);

 private:
  static constexpr std::size_t kChunk = 256;  // slots whose places are made at once, and never move

  std::size_t size_now() const REQUIRES(mutex_);

  const std::int64_t max_bytes_;
  mutable Mutex mutex_;  // never across a call out
  // All but the last are full; none is longer than what was reserved for it.
  std::vector<std::vector<Slot>> chunks_ GUARDED_BY(mutex_);
  std::int64_t bytes_ GUARDED_BY(mutex_) = 0;
  bool has_ended_ GUARDED_BY(mutex_) = false;
};

}  // namespace penstock::ops
