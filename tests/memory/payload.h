// A payload whose memory is counted twice: by the engine through bytes_of, and by its own allocator.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "tests/support/random.h"

namespace memory_stress {

// What one run's payloads hold, by the word of the allocator.
class Tally {
 public:
  void add(std::int64_t bytes) {
    ++blocks_;
    const std::int64_t live = live_.fetch_add(bytes) + bytes;
    std::int64_t peak = peak_.load();
    while (peak < live && !peak_.compare_exchange_weak(peak, live)) {
    }
  }
  void subtract(std::int64_t bytes) {
    --blocks_;
    live_ -= bytes;
  }

  std::int64_t live() const { return live_; }
  std::int64_t peak() const { return peak_; }
  std::int64_t blocks() const { return blocks_; }  // which are live: one for each payload

 private:
  std::atomic<std::int64_t> live_{0}, peak_{0}, blocks_{0};
};

template <class T> class CountingAllocator {
 public:
  using value_type = T;

  explicit CountingAllocator(Tally& tally) noexcept : tally_(&tally) {}
  template <class U> CountingAllocator(const CountingAllocator<U>& other) noexcept : tally_(&other.tally()) {}

  T* allocate(std::size_t count) {
    T* const memory = std::allocator<T>().allocate(count);
    tally_->add(static_cast<std::int64_t>(count * sizeof(T)));
    return memory;
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    tally_->subtract(static_cast<std::int64_t>(count * sizeof(T)));
    std::allocator<T>().deallocate(memory, count);
  }

  Tally& tally() const noexcept { return *tally_; }
  friend bool operator==(const CountingAllocator& a, const CountingAllocator& b) noexcept {
    return a.tally_ == b.tally_;
  }

 private:
  Tally* tally_;
};

// All zeros, so that its pages are there.
class Payload {
 public:
  Payload(Tally& tally, std::int64_t number, std::int64_t bytes)
      : number_(number), memory_(static_cast<std::size_t>(bytes), CountingAllocator<std::byte>(tally)) {}
  Payload(Payload&&) noexcept = default;  // and so not copyable: nobody may double the bytes
  Payload& operator=(Payload&&) noexcept = default;

  std::int64_t number() const noexcept { return number_; }
  std::int64_t bytes() const noexcept { return static_cast<std::int64_t>(memory_.capacity()); }

 private:
  std::int64_t number_;
  std::vector<std::byte, CountingAllocator<std::byte>> memory_;
};

// What the library asks for.
inline std::size_t bytes_of(const Payload& payload) { return static_cast<std::size_t>(payload.bytes()); }

// Log-normal around 8 KiB, and one in 200 a hundred times larger. The same number has another size
// in each stage (`salt`).
inline std::int64_t size_of(std::int64_t number, std::uint64_t salt) {
  penstock::test::Random random(static_cast<std::uint64_t>(number) * 0x9E3779B97F4A7C15u + salt);
  const auto uniform = [&random] { return (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53; };
  // Box and Muller: A Note on the Generation of Random Normal Deviates, 1958.
  const double normal = std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
  const double bytes = 8192 * std::exp(0.7 * normal) * (random.one_in(200) ? 100 : 1);
  return std::clamp<std::int64_t>(std::llround(bytes), 64, 16 << 20);
}

}  // namespace memory_stress
