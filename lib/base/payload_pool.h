// PayloadPool: memory for images, batches and file contents, kept for reuse.
//
// malloc serves sizes like these badly in a long run: glibc moves its mmap threshold up with every
// block that is freed, after which batches live on the heap, where one small survivor keeps many
// megabytes resident. Here blocks of 256 KiB and more are mappings of their own, rounded up to one
// of 8 sizes per power of two (at most 12.5 % of a block is unused), and reused for requests of the
// same size: the newest that was given back on the same core, else the newest. (A crop that is
// written over memory which another core has read costs that core's copy of each line; with one
// list for all cores `boxes` took up to 14 % more CPU time.) Smaller requests go to the block pool
// (block_pool.h), with their control block in the same block.
//
// What is kept idle follows the use, so that resident memory does too:
//
//   mapped <= max(mapped by live blocks + idle_floor, 1.25 x recent peak of live bytes)
//
// where "recent" is the last one to two windows. A pipeline that allocates and frees a batch in
// turn gets the same pages again and again; after a burst the rest goes back to the kernel with the
// next call.
//
// All members may be called from any thread. A reused block costs ~150 ns, a new one the kernel's
// page faults (~0.1 ms per MB).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "lib/base/mutex.h"

namespace penstock {

int current_core() noexcept;

struct PayloadPoolOptions {
  std::size_t idle_floor = std::size_t{16} << 20;   // bytes that may always be kept idle
  std::chrono::nanoseconds window{10'000'000'000};  // 0: the cap follows the live bytes at once
  std::chrono::steady_clock::time_point (*now)() = &std::chrono::steady_clock::now;  // for tests, as the next
  int (*core)() = &current_core;                                                     // of this thread
};

// Bytes, of blocks of 256 KiB and more. "Live" counts what was asked for, "mapped" what it takes.
struct PayloadPoolStats {
  std::size_t live = 0;
  std::size_t live_mapped = 0;
  std::size_t idle = 0;         // mapped and waiting for reuse
  std::size_t peak_live = 0;    // since the start of the process
  std::size_t peak_mapped = 0;  // of live_mapped + idle
  std::uint64_t allocations = 0;
  std::uint64_t reuses = 0;  // of the allocations
};

class PayloadPool {
 public:
  static constexpr std::size_t pooled_from = std::size_t{256} << 10;

  explicit PayloadPool(const PayloadPoolOptions& options = {});
  // All blocks must have been given back: a block refers to its pool.
  ~PayloadPool();
  PayloadPool(const PayloadPool&) = delete;
  PayloadPool& operator=(const PayloadPool&) = delete;

  // Uninitialised memory, aligned to 64 bytes, to a page from 256 KiB on. May be released on any
  // thread. Throws std::bad_alloc. 0 bytes give a valid pointer to nothing.
  std::shared_ptr<std::byte> allocate(std::size_t bytes);

  // Gives idle blocks back to the kernel, oldest first, until at most `keep` bytes are idle and the
  // cap above holds. For a timer, with the default, and for the end of a run, with 0.
  void trim(std::size_t keep = std::numeric_limits<std::size_t>::max()) noexcept;

  PayloadPoolStats stats() const EXCLUDES(mutex_);

  // What a request is rounded up to, for bytes >= pooled_from.
  static std::size_t rounded(std::size_t bytes) noexcept;

 private:
  template <class T> friend class BlockAllocator;

  // A mapping that is in nobody's use.
  struct Block {
    std::byte* at = nullptr;
    std::size_t bytes = 0;
    int core = -1;  // on which it was given back
  };

  std::byte* take(std::size_t bytes);
  void give_back(std::byte* at, std::size_t bytes) noexcept;

  Block find_idle(std::size_t mapped) EXCLUDES(mutex_);
  void count_live(std::size_t bytes, std::size_t mapped, bool reused) EXCLUDES(mutex_);
  bool retire(std::size_t bytes, Block block) noexcept EXCLUDES(mutex_);
  Block take_excess(std::size_t keep) noexcept EXCLUDES(mutex_);

  void roll_window() noexcept REQUIRES(mutex_);
  std::size_t idle_cap() const noexcept REQUIRES(mutex_);

  const PayloadPoolOptions options_;

  // Held for a search of the idle blocks at most (~1 us for a thousand of
  // them): never while memory is mapped, unmapped or touched, nor while other code runs. Whenever
  // it is free:
  //   * a block is live (owned by its shared_ptr) or in idle_, or on its way from one to the other or
  //     to the kernel in the hands of the one thread that took it, and then it is counted nowhere;
  //   * stats_.live and live_mapped are sums over the live blocks, stats_.idle is the sum over idle_;
  //   * window_peak_ and last_peak_ are peaks of stats_.live in the window that began at
  //     window_start_, and in the one before.
  // The idle cap holds whenever take(), give_back() and trim() have returned on all threads.
  mutable Mutex mutex_;
  PayloadPoolStats stats_ GUARDED_BY(mutex_);
  std::vector<Block> idle_ GUARDED_BY(mutex_);  // oldest first
  std::chrono::steady_clock::time_point window_start_ GUARDED_BY(mutex_);
  std::size_t window_peak_ GUARDED_BY(mutex_) = 0;
  std::size_t last_peak_ GUARDED_BY(mutex_) = 0;
};

// The pool behind detail::allocate_payload. It lives until the process ends and is never destroyed,
// on purpose: tensors in static variables may be freed after everything else.
PayloadPool& payload_pool();

}  // namespace penstock
