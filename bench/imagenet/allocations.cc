// Replaces operator new for the whole program by one that counts. The counters are spread over
// cache lines, so that threads do not wait for each other: a shared one would cost more than the
// allocations that it counts.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "bench/imagenet/process.h"

namespace {

struct alignas(64) Counter {
  std::atomic<std::int64_t> count{0};
};

constexpr std::size_t counter_count = 64;
std::array<Counter, counter_count> counters;
std::atomic<std::size_t> next_counter{0};

void count_one() {
  thread_local const std::size_t mine = next_counter.fetch_add(1, std::memory_order_relaxed) % counter_count;
  counters[mine].count.fetch_add(1, std::memory_order_relaxed);
}

void* checked(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* allocate_or_null(std::size_t bytes) noexcept {
  count_one();
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* allocate(std::size_t bytes) { return checked(allocate_or_null(bytes)); }

void* allocate(std::size_t bytes, std::align_val_t alignment) {
  count_one();
  const auto align = static_cast<std::size_t>(alignment);
  return checked(std::aligned_alloc(align, (bytes + align - 1) / align * align));
}

}  // namespace

namespace penstock::bench {

std::int64_t allocation_count() {
  std::int64_t sum = 0;
  for (const Counter& counter : counters) sum += counter.count.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace penstock::bench

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void* operator new(std::size_t bytes, std::align_val_t align) { return allocate(bytes, align); }
void* operator new[](std::size_t bytes, std::align_val_t align) { return allocate(bytes, align); }
// Sanitizers have their own of these, which would not go together with the deletes below.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate_or_null(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate_or_null(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
