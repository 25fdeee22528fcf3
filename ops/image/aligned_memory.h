// Memory for values, aligned to cache lines. It keeps its size when fewer are wanted; AddressSanitizer, where it is built in, is told
// that only those may be touched.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/core/poison.h"

namespace penstock::image {

template <class T>
class AlignedMemory {
 public:
  AlignedMemory() = default;
  AlignedMemory(AlignedMemory&&) noexcept = default;
  AlignedMemory& operator=(AlignedMemory&&) noexcept = default;

  // At least `count` values; those that are new are 0.
  T* resize(std::size_t count) {
    constexpr std::size_t of_line = 64 / sizeof(T);
    set_accessible(lines_.data(), bytes(), true);
    if (lines_.size() * of_line <= count) lines_.resize(count / of_line + 1);
    set_accessible(data() + count, bytes() - count * sizeof(T), false);
    return data();
  }
  T* data() { return lines_.data()->values; }
  const T* data() const { return lines_.data()->values; }
  std::size_t bytes() const { return lines_.size() * sizeof(Line); }

 private:
  struct alignas(64) Line {
    T values[64 / sizeof(T)];
  };
  std::vector<Line> lines_;
};

}  // namespace penstock::image
