#include "lib/base/payload_pool.h"

#include <penstock/detail/pooled.h>
#include <penstock/tensor.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>
#include <utility>

#include "lib/base/poison.h"

namespace penstock {
namespace {

// The shared_ptr's control block lies in front of the payload, in memory of its own alignment.
constexpr std::size_t small_header = 64;
constexpr std::size_t page = 4096;
constexpr std::size_t huge_from = std::size_t{4} << 20;
constexpr std::size_t max_payload = std::size_t{1} << 62;

std::byte* map(std::size_t bytes) noexcept {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  // Advice only: without huge pages in the kernel the call fails and nothing is lost.
  if (bytes >= huge_from) static_cast<void>(::madvise(at, bytes, MADV_HUGEPAGE));
  return static_cast<std::byte*>(at);
}

void unmap(std::byte* at, std::size_t bytes) noexcept {
  set_accessible(at, bytes, true);
  ::munmap(at, bytes);
}

std::size_t mapped_for(std::size_t bytes) noexcept { return page + PayloadPool::rounded(bytes); }

std::size_t header_for(std::size_t bytes) noexcept { return bytes < PayloadPool::pooled_from ? small_header : page; }

struct Token {};

}  // namespace

int current_core() noexcept { return sched_getcpu(); }

// Gives std::allocate_shared room for the payload behind its control block.
template <class T> class BlockAllocator {
 public:
  using value_type = T;

  BlockAllocator(PayloadPool& pool, std::size_t bytes) noexcept : pool_(&pool), bytes_(bytes) {}
  template <class U>
  BlockAllocator(const BlockAllocator<U>& other) noexcept : pool_(other.pool_), bytes_(other.bytes_) {}

  T* allocate([[maybe_unused]] std::size_t count) {
    static_assert(small_header == detail::pooled_alignment);
    static_assert(sizeof(T) <= small_header && alignof(T) <= small_header);
    assert(count == 1);
    if (bytes_ >= PayloadPool::pooled_from) return reinterpret_cast<T*>(pool_->take(bytes_));
    return static_cast<T*>(detail::take_pooled(small_header + bytes_));
  }

  void deallocate(T* at, std::size_t) noexcept {
    if (bytes_ >= PayloadPool::pooled_from)
      pool_->give_back(reinterpret_cast<std::byte*>(at), bytes_);
    else
      detail::give_back_pooled(at, small_header + bytes_);
  }

  friend bool operator==(const BlockAllocator&, const BlockAllocator&) = default;

 private:
  template <class U> friend class BlockAllocator;
  PayloadPool* pool_;
  std::size_t bytes_;
};

PayloadPool::PayloadPool(const PayloadPoolOptions& options) : options_(options), window_start_(options.now()) {}

PayloadPool::~PayloadPool() {
  trim(0);
  assert(stats_.live_mapped == 0);
}

std::size_t PayloadPool::rounded(std::size_t bytes) noexcept {
  const std::size_t step = std::size_t{1} << (std::bit_width(bytes - 1) - 4);
  return (bytes + step - 1) / step * step;
}

std::shared_ptr<std::byte> PayloadPool::allocate(std::size_t bytes) {
  if (bytes > max_payload) throw std::bad_alloc();
  const auto token = std::allocate_shared<Token>(BlockAllocator<Token>(*this, bytes));
  // The token lies inside the control block, and that begins where its header does.
  const std::size_t header = header_for(bytes);
  auto* const inside = reinterpret_cast<std::byte*>(token.get());
  std::byte* const begin = inside - reinterpret_cast<std::uintptr_t>(inside) % header;
  return {token, begin + header};
}

std::byte* PayloadPool::take(std::size_t bytes) {
  const std::size_t mapped = mapped_for(bytes);
  const Block idle = find_idle(mapped);
  std::byte* at = idle.at != nullptr ? idle.at : map(mapped);
  if (at == nullptr) {
    trim(0);
    at = map(mapped);
  }
  if (at == nullptr) throw std::bad_alloc();
  set_accessible(at, mapped, false);
  set_accessible(at, page + bytes, true);
  count_live(bytes, mapped, idle.at != nullptr);
  trim();
  return at;
}

void PayloadPool::give_back(std::byte* at, std::size_t bytes) noexcept {
  const std::size_t mapped = mapped_for(bytes);
  set_accessible(at, mapped, false);
  if (!retire(bytes, {at, mapped, options_.core()})) unmap(at, mapped);
  trim();
}

void PayloadPool::trim(std::size_t keep) noexcept {
  while (true) {
    const Block block = take_excess(keep);
    if (block.at == nullptr) return;
    unmap(block.at, block.bytes);
  }
}

PayloadPoolStats PayloadPool::stats() const {
  MutexLock lock(mutex_);
  return stats_;
}

// The newest block of that size that was given back on this core, or else on any: its lines are the likeliest to be in
// the caches still.
PayloadPool::Block PayloadPool::find_idle(std::size_t mapped) {
  const int core = options_.core();
  MutexLock lock(mutex_);
  const auto fits = [mapped](const Block& block) { return block.bytes == mapped; };
  const auto is_near = [&](const Block& block) { return fits(block) && block.core == core; };
  auto at = std::find_if(idle_.rbegin(), idle_.rend(), is_near);
  if (at == idle_.rend()) at = std::find_if(idle_.rbegin(), idle_.rend(), fits);
  if (at == idle_.rend()) return {};
  const Block found = *at;
  idle_.erase(std::next(at).base());
  stats_.idle -= mapped;
  return found;
}

void PayloadPool::count_live(std::size_t bytes, std::size_t mapped, bool reused) {
  MutexLock lock(mutex_);
  roll_window();
  stats_.live += bytes;
  stats_.live_mapped += mapped;
  stats_.allocations += 1;
  stats_.reuses += reused ? 1 : 0;
  stats_.peak_live = std::max(stats_.peak_live, stats_.live);
  stats_.peak_mapped = std::max(stats_.peak_mapped, stats_.live_mapped + stats_.idle);
  window_peak_ = std::max(window_peak_, stats_.live);
}

// From live to idle. False if the block is not worth keeping: dropping all others for it would not
// be enough.
bool PayloadPool::retire(std::size_t bytes, Block block) noexcept {
  MutexLock lock(mutex_);
  roll_window();
  stats_.live -= bytes;
  stats_.live_mapped -= block.bytes;
  if (block.bytes > idle_cap()) return false;
  try {
    idle_.push_back(block);
  } catch (const std::bad_alloc&) {
    return false;
  }
  stats_.idle += block.bytes;
  return true;
}

PayloadPool::Block PayloadPool::take_excess(std::size_t keep) noexcept {
  MutexLock lock(mutex_);
  roll_window();
  if (stats_.idle <= std::min(keep, idle_cap())) return {};
  const Block oldest = idle_.front();
  idle_.erase(idle_.begin());
  stats_.idle -= oldest.bytes;
  return oldest;
}

// After two windows without a call nothing has changed since the last one, so its live bytes are
// the peak.
void PayloadPool::roll_window() noexcept {
  const auto now = options_.now();
  const auto age = now - window_start_;
  if (age < options_.window) return;
  last_peak_ = age < 2 * options_.window ? window_peak_ : stats_.live;
  window_peak_ = stats_.live;
  window_start_ = now;
}

std::size_t PayloadPool::idle_cap() const noexcept {
  const std::size_t recent = std::max(window_peak_, last_peak_);
  const std::size_t budget = recent + recent / 4;
  const std::size_t left = budget > stats_.live_mapped ? budget - stats_.live_mapped : 0;
  return std::max(options_.idle_floor, left);
}

PayloadPool& payload_pool() {
  static PayloadPool* const pool = std::make_unique<PayloadPool>().release();
  return *pool;
}

std::shared_ptr<std::byte> detail::allocate_payload(std::size_t bytes) { return payload_pool().allocate(bytes); }

}  // namespace penstock
