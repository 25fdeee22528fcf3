// Sizes as users tell them, for the memory budget's books.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace penstock {

// At most 2^47, which is more than any machine has: sums of such are still numbers.
inline std::int64_t byte_count(std::size_t bytes) noexcept {
  return static_cast<std::int64_t>(std::min(bytes, std::size_t{1} << 47));
}

}  // namespace penstock
