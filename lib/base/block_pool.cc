#include "lib/base/block_pool.h"

#include <penstock/detail/pooled.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <memory>
#include <new>
#include <utility>

#include "lib/base/poison.h"

#if defined(PENSTOCK_ASAN) || defined(__SANITIZE_THREAD__)
#define PENSTOCK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PENSTOCK_SANITIZED 1
#endif
#endif

namespace penstock {
namespace {

constexpr std::size_t finest = 64;  // step between classes up to `fine_up_to`
constexpr std::size_t fine_up_to = 512;
constexpr std::size_t fine_classes = fine_up_to / finest;
constexpr int fine_width = 9;                // bits of fine_up_to - 1
constexpr std::size_t kept_of_class = 8192;  // bytes that a thread keeps

#ifdef PENSTOCK_SANITIZED
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

constexpr std::align_val_t alignment{BlockSizes::alignment};

void* from_heap(std::size_t bytes) { return ::operator new(bytes, alignment); }
void to_heap(void* block) noexcept { ::operator delete(block, alignment); }

constexpr std::size_t most_kept(std::size_t bytes) noexcept { return kept_of_class / bytes; }

// Set when this thread's cache is gone: what is freed even later goes past it.
thread_local bool cache_is_gone = false;

struct ThreadCache {
  ~ThreadCache() { cache_is_gone = true; }
  BlockCache cache{block_pool()};
};

BlockCache* cache_of_thread() {
  if (cache_is_gone) return nullptr;
  thread_local ThreadCache cache;
  return &cache.cache;
}

}  // namespace

std::size_t BlockSizes::class_of(std::size_t bytes) noexcept {
  assert(bytes <= largest);
  if (bytes <= finest) return 0;
  if (bytes <= fine_up_to) return (bytes - 1) / finest;
  const auto width = static_cast<int>(std::bit_width(bytes - 1));
  const std::size_t quarter = ((bytes - 1) >> (width - 3)) - 4;
  return fine_classes + 4 * static_cast<std::size_t>(width - fine_width - 1) + quarter;
}

std::size_t BlockSizes::bytes_of(std::size_t size_class) noexcept {
  if (size_class < fine_classes) return (size_class + 1) * finest;
  const std::size_t place = size_class - fine_classes;
  return (5 + place % 4) << (fine_width - 2 + place / 4);
}

// ------------------------------------------------------------------------------------------------ free blocks

void FreeBlocks::push(void* block, std::size_t bytes) noexcept {
  first_ = ::new (block) Link{first_};
  ++count_;
  set_accessible(static_cast<std::byte*>(block) + sizeof(Link), bytes - sizeof(Link), false);
}

void* FreeBlocks::pop(std::size_t bytes) noexcept {
  if (first_ == nullptr) return nullptr;
  Link* const block = std::exchange(first_, first_->next);
  --count_;
  set_accessible(block, bytes, true);
  return block;
}

// ------------------------------------------------------------------------------------------------ pool

BlockPool::~BlockPool() {
  for (std::size_t i = 0; i < idle_.size(); ++i) {
    while (void* const block = idle_[i].pop(BlockSizes::bytes_of(i))) to_heap(block);
  }
}

void* BlockPool::take(std::size_t bytes, FreeBlocks& others, std::size_t spare) {
  const std::size_t size_class = BlockSizes::class_of(bytes);
  const std::size_t size = BlockSizes::bytes_of(size_class);
  {
    MutexLock lock(mutex_);
    FreeBlocks& idle = idle_[size_class];
    const std::size_t before = idle.size();
    void* const found = idle.pop(size);
    for (; spare > 0 && idle.size() > 0; --spare) others.push(idle.pop(size), size);
    stats_.idle_bytes -= (before - idle.size()) * size;
    if (found != nullptr) return found;
    ++stats_.from_heap;
  }
  return from_heap(size);
}

void BlockPool::give_back(std::size_t size_class, FreeBlocks& blocks, std::size_t count) noexcept {
  const std::size_t size = BlockSizes::bytes_of(size_class);
  FreeBlocks gone;
  std::size_t gone_size = size;
  do {
    {
      MutexLock lock(mutex_);
      for (; count > 0; --count) {
        idle_[size_class].push(blocks.pop(size), size);
        stats_.idle_bytes += size;
      }
      gone_size = trim(gone);
    }
    while (void* const block = gone.pop(gone_size)) to_heap(block);
  } while (gone_size != 0);
}

// Takes blocks of one class out, whose bytes it returns; 0 if no more need to go.
std::size_t BlockPool::trim(FreeBlocks& gone) noexcept {
  if (stats_.idle_bytes <= options_.idle_bytes) return 0;
  const std::size_t size_class = largest_class();
  const std::size_t size = BlockSizes::bytes_of(size_class);
  constexpr std::size_t at_once = 32;
  for (std::size_t i = 0; i < at_once && stats_.idle_bytes > options_.idle_bytes && idle_[size_class].size() > 0; ++i) {
    gone.push(idle_[size_class].pop(size), size);
    stats_.idle_bytes -= size;
    ++stats_.to_heap;
  }
  return size;
}

std::size_t BlockPool::largest_class() const noexcept {
  const auto bytes = [this](std::size_t i) REQUIRES(mutex_) { return idle_[i].size() * BlockSizes::bytes_of(i); };
  std::size_t largest = 0;
  for (std::size_t i = 1; i < idle_.size(); ++i) {
    if (bytes(i) > bytes(largest)) largest = i;
  }
  return largest;
}

BlockPoolStats BlockPool::stats() const {
  MutexLock lock(mutex_);
  return stats_;
}

BlockPool& block_pool() {
  static BlockPool* const pool = std::make_unique<BlockPool>(BlockPoolOptions{}).release();
  return *pool;
}

// ------------------------------------------------------------------------------------------------ cache

BlockCache::~BlockCache() {
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i].size() > 0) pool_.give_back(i, kept_[i], kept_[i].size());
  }
}

void* BlockCache::take(std::size_t bytes) {
  const std::size_t size_class = BlockSizes::class_of(bytes);
  const std::size_t size = BlockSizes::bytes_of(size_class);
  if (void* const block = kept_[size_class].pop(size)) return block;
  return pool_.take(bytes, kept_[size_class], size > largest_kept ? 0 : most_kept(size) / 2);
}

// Half of a full list goes: the next call finds as many blocks as it finds room.
void BlockCache::give_back(void* block, std::size_t bytes) noexcept {
  const std::size_t size_class = BlockSizes::class_of(bytes);
  const std::size_t size = BlockSizes::bytes_of(size_class);
  FreeBlocks& kept = kept_[size_class];
  kept.push(block, size);
  if (size > largest_kept)
    pool_.give_back(size_class, kept, kept.size());
  else if (kept.size() > most_kept(size))
    pool_.give_back(size_class, kept, kept.size() / 2);
}

// ------------------------------------------------------------------------------------------------ for everybody

void* detail::take_pooled(std::size_t bytes) {
  if (sanitized || bytes > BlockSizes::largest) return from_heap(bytes);
  if (BlockCache* const cache = cache_of_thread()) return cache->take(bytes);
  FreeBlocks none;
  return block_pool().take(bytes, none);
}

void detail::give_back_pooled(void* at, std::size_t bytes) noexcept {
  if (sanitized || bytes > BlockSizes::largest) return to_heap(at);
  if (BlockCache* const cache = cache_of_thread()) return cache->give_back(at, bytes);
  const std::size_t size_class = BlockSizes::class_of(bytes);
  FreeBlocks alone;
  alone.push(at, BlockSizes::bytes_of(size_class));
  block_pool().give_back(size_class, alone, 1);
}

}  // namespace penstock
