// Memory for values, aligned to cache lines. It keeps its size when fewer are wanted; AddressSanitizer, where it is
// built in, is told that only those that are wanted may be touched.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/base/poison.h"

namespace penstock::image {

template <class T> class AlignedMemory {
 public:
  // A copy would lose what AddressSanitizer was told.
  AlignedMemory() = default;
  AlignedMemory(AlignedMemory&&) noexcept = default;
  AlignedMemory& operator=(AlignedMemory&&) noexcept = default;

  // `count` values; those that are new are 0. Allocates no more than that and a line.
  T* resize(std::size_t count) {
    constexpr std::size_t of_line = 64 / sizeof(T);
    set_accessible(lines_.data(), bytes(), true);
    if (lines_.size() * of_line <= count) {
      lines_.reserve(count / of_line + 1);  // resize() alone would double it
      lines_.resize(count / of_line + 1);
    }
    set_accessible(data() + count, bytes() - count * sizeof(T), false);
    return data();
  }
  // After resize() only.
  T* data() { return lines_.data()->values; }
  const T* data() const { return lines_.data()->values; }
  std::size_t bytes() const { return lines_.size() * sizeof(Line); }  // allocated

 private:
  struct alignas(64) Line {
    T values[64 / sizeof(T)];
  };
  std::vector<Line> lines_;
};

}  // namespace penstock::image
