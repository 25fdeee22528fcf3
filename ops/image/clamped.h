// Clamping by a table, for scalar kernels: a load in place of two comparisons.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock::image {

// Entry i is `first` + i, clamped to 0 .. 255.
template <std::size_t kSize> constexpr std::array<std::uint8_t, kSize> clamped(int first) {
  std::array<std::uint8_t, kSize> table{};
  for (std::size_t i = 0; i < kSize; ++i)
    table[i] = static_cast<std::uint8_t>(std::clamp(first + static_cast<int>(i), 0, 255));
  return table;
}

}  // namespace penstock::image
