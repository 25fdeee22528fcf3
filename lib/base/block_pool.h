// BlockPool: small blocks of memory, up to 320 KiB, kept for reuse by size class.
//
// What is made and dropped with every element (boxes, packets, file contents) would cost the heap several calls an
// element. Here a block that is given back serves the next request of its class: first from a cache of the thread,
// which takes no lock, then from the pool, under a short one. A class is 64 bytes wide up to 512 bytes, then a quarter
// of a power of two: at most a fifth of a larger block is unused.
//
//   idle memory <= BlockPoolOptions::idle_bytes + 160 KiB for each thread
//
// Beyond it, blocks go to the heap: those of the class that holds most, so that what is no longer asked for gives way.
// Larger requests go to the heap at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/base/mutex.h"

namespace penstock {

// The classes of sizes.
class BlockSizes {
 public:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t count = 45;
  static constexpr std::size_t largest = std::size_t{320} << 10;

  static std::size_t class_of(std::size_t bytes) noexcept;       // of a request, bytes <= largest
  static std::size_t bytes_of(std::size_t size_class) noexcept;  // of each of its blocks
};

// Free blocks of one class, the last that came first. The list lies in the blocks themselves; the rest of them is
// poisoned for AddressSanitizer. Not thread-safe. Its blocks must be gone when it ends.
class FreeBlocks {
 public:
  void push(void* block, std::size_t bytes) noexcept;
  void* pop(std::size_t bytes) noexcept;  // nullptr: there is none
  std::size_t size() const noexcept { return count_; }

 private:
  struct Link {
    Link* next;
  };
  Link* first_ = nullptr;
  std::size_t count_ = 0;
};

struct BlockPoolOptions {
  std::size_t idle_bytes = std::size_t{8} << 20;  // that may be kept; 0: none
};

struct BlockPoolStats {
  std::size_t idle_bytes = 0;
  std::uint64_t from_heap = 0;
  std::uint64_t to_heap = 0;
};

// What all threads share. All members may be called from any thread.
class BlockPool {
 public:
  explicit BlockPool(const BlockPoolOptions& options = {}) : options_(options) {}
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // One block for bytes <= BlockSizes::largest; up to `spare` more of its class, if they are idle, go to `others`.
  // Throws std::bad_alloc.
  void* take(std::size_t bytes, FreeBlocks& others, std::size_t spare = 0) EXCLUDES(mutex_);

  // The `count` newest of these blocks of one class.
  void give_back(std::size_t size_class, FreeBlocks& blocks, std::size_t count) noexcept EXCLUDES(mutex_);

  BlockPoolStats stats() const EXCLUDES(mutex_);

 private:
  using Classes = std::array<FreeBlocks, BlockSizes::count>;

  std::size_t trim(FreeBlocks& gone) noexcept REQUIRES(mutex_);
  std::size_t largest_class() const noexcept REQUIRES(mutex_);

  const BlockPoolOptions options_;
  // Held for moving a few dozen blocks from list to list at most, never while the heap is asked.
  // stats_.idle_bytes is the sum over idle_ whenever it is free.
  mutable Mutex mutex_;
  Classes idle_ GUARDED_BY(mutex_);
  BlockPoolStats stats_ GUARDED_BY(mutex_);
};

// Blocks of up to 4 KiB that one thread keeps, at most 8 KiB of a class; the others pass through. Not thread-safe.
class BlockCache {
 public:
  static constexpr std::size_t largest_kept = 4096;

  explicit BlockCache(BlockPool& pool) noexcept : pool_(pool) {}
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  void* take(std::size_t bytes);  // bytes <= BlockSizes::largest. Throws std::bad_alloc
  void give_back(void* block, std::size_t bytes) noexcept;

 private:
  BlockPool& pool_;
  std::array<FreeBlocks, BlockSizes::count> kept_;
};

// The pool behind detail::take_pooled. It lives until the process ends and is never destroyed, on purpose: elements in
// static variables may be freed after everything else. Under a sanitizer it keeps nothing, so that no use after the end
// goes unseen.
BlockPool& block_pool();

}  // namespace penstock
