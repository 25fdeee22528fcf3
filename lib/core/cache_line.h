// What different threads write often lies on lines of its own: else each write takes the line from all others.
#pragma once

#include <cstddef>

namespace penstock {

// Bytes. Of x86-64 and most arm64; not std::hardware_destructive_interference_size, which changes with compiler flags.
inline constexpr std::size_t kCacheLine = 64;

}  // namespace penstock
