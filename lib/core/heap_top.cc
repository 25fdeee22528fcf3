#include "lib/core/heap_top.h"

#include <penstock/detail/pooled.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#ifdef __GLIBC__
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace penstock {
namespace {

std::atomic<std::uint32_t> asked{0};  // so many times
thread_local std::uint32_t answered = 0;

#ifdef __GLIBC__
constexpr std::size_t kLargeBlock = std::size_t{16} << 20;
constexpr std::size_t kLargest = std::size_t{32} << 20, kSmallest = std::size_t{1} << 20;

// The pages that lie inside a block of our own.
void drop_pages(void* block, std::size_t bytes) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(block) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(block) + bytes) / page * page;
  if (begin < end)
    ::madvise(static_cast<std::byte*>(block) + (begin - reinterpret_cast<std::uintptr_t>(block)), end - begin,
              MADV_DONTNEED);
}

// A block of that size comes from a free one or the top, and goes back there without its pages. What malloc() takes
// from the system instead is no loss. Some sizes, for nobody tells how large the top is.
void give_back() noexcept {
  for (std::size_t bytes = kLargest; bytes >= kSmallest; bytes /= 2) {
    void* const block = std::malloc(bytes);
    if (block == nullptr) continue;
    drop_pages(block, bytes);
    std::free(block);
  }
}
#else
constexpr std::size_t kLargeBlock = static_cast<std::size_t>(-1);
void drop_pages(void*, std::size_t) noexcept {}
void give_back() noexcept {}
#endif

}  // namespace

void ask_for_heap_tops() noexcept { asked.fetch_add(1, std::memory_order_relaxed); }

void give_back_heap_top() noexcept {
  const std::uint32_t now = asked.load(std::memory_order_relaxed);
  if (now == answered) return;
  answered = now;
  give_back();
}

void detail::give_back_pages(void* block, std::size_t bytes) noexcept {
  if (bytes >= kLargeBlock) drop_pages(block, bytes);
}

}  // namespace penstock
