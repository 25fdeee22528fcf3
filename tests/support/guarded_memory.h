// Memory that ends, or begins, at a page that nobody may touch: a kernel that reads or writes one byte too far ends the
// process.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>
#include <span>

namespace penstock::testing {

enum class Guard { behind, before };

template <class T> class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t count, Guard where = Guard::behind) : count_(count) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t inside = (count * sizeof(T) + page - 1) / page * page;
    bytes_ = inside + 2 * page;
    void* const at = ::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    mapped_ = static_cast<std::byte*>(at);
    if (inside > 0 && ::mprotect(mapped_ + page, inside, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    std::byte* const begin = mapped_ + page;
    data_ = reinterpret_cast<T*>(where == Guard::before ? begin : begin + inside - count * sizeof(T));
  }
  ~GuardedMemory() { ::munmap(mapped_, bytes_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::span<T> values() const { return {data_, count_}; }
  T* data() const { return data_; }

 private:
  std::size_t count_;
  std::size_t bytes_ = 0;
  std::byte* mapped_ = nullptr;
  T* data_ = nullptr;
};

}  // namespace penstock::testing
