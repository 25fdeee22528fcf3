// Memory for values, aligned to cache lines. It keeps its size when fewer are wanted.
#pragma once

#include <cstddef>
#include <vector>

namespace penstock::image {

template <class T>
class AlignedMemory {
 public:
  // At least `count` values; those that are new are 0.
  T* resize(std::size_t count) {
    constexpr std::size_t of_line = 64 / sizeof(T);
    if (lines_.size() * of_line <= count) lines_.resize(count / of_line + 1);
    return data();
  }
  T* data() { return lines_.data()->values; }

 private:
  struct alignas(64) Line {
    T values[64 / sizeof(T)];
  };
  std::vector<Line> lines_;
};

}  // namespace penstock::image
