// Memory for what is made and dropped with every element: boxes, strings, lists. Nothing here is meant to be called by
// users.
//
// It comes from penstock's block pool (lib/base/block_pool.h), which gives freed blocks out again: in a steady run
// nothing is asked of the heap. Aligned to 64 bytes. Any thread may give back what another has taken. ~5 ns a block
// below 4 KiB, ~50 ns above.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)

namespace penstock::detail {

inline constexpr std::size_t pooled_alignment = 64;

// Uninitialised memory. Throws std::bad_alloc.
void* take_pooled(std::size_t bytes);
// `bytes` as they were asked for.
void give_back_pooled(void* at, std::size_t bytes) noexcept;

// Of a block from new, about to be freed, with nothing alive in it: from 16 MiB its pages go to the system now, ~0.1 ms
// (and as much again, should they be wanted again). glibc would keep up to 64 MiB for the next such block, in each of
// its arenas, on nobody's books (mallopt(3), M_MMAP_THRESHOLD).
void give_back_pages(void* block, std::size_t bytes) noexcept;

// For containers; has what std::allocator has. Without state: all of them are equal.
template <class T> class PooledAllocator {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using propagate_on_container_move_assignment = std::true_type;
  using is_always_equal = std::true_type;

  PooledAllocator() noexcept = default;
  template <class U> PooledAllocator(const PooledAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= pooled_alignment);
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(take_pooled(count * sizeof(T)));
  }
  void deallocate(T* at, std::size_t count) noexcept { give_back_pooled(at, count * sizeof(T)); }

  template <class U> friend bool operator==(const PooledAllocator&, const PooledAllocator<U>&) noexcept { return true; }
};

// For values. What is aligned more strictly than the pool goes to the heap.
template <class T>
using BoxAllocator = std::conditional_t<alignof(T) <= pooled_alignment, PooledAllocator<T>, std::allocator<T>>;

template <class T> struct PooledDelete {
  void operator()(T* value) const noexcept {
    std::destroy_at(value);
    BoxAllocator<T>().deallocate(value, 1);
  }
};
template <class T> using PooledPtr = std::unique_ptr<T, PooledDelete<T>>;

template <class T, class... Arguments> PooledPtr<T> make_pooled(Arguments&&... arguments) {
  struct Room {
    T* at = BoxAllocator<T>().allocate(1);
    ~Room() {
      if (at != nullptr) BoxAllocator<T>().deallocate(at, 1);
    }
  } room;
  PooledPtr<T> value(std::construct_at(room.at, std::forward<Arguments>(arguments)...));
  room.at = nullptr;
  return value;
}

using PooledString = std::basic_string<char, std::char_traits<char>, PooledAllocator<char>>;

}  // namespace penstock::detail

#pragma GCC visibility pop
