// Copying into memory that is not looked at again soon.
#pragma once

#include <cstddef>

namespace penstock {

// A batch from this size on, in bytes, is in no core's own cache by the time that somebody reads it: it pays to write
// past them.
inline constexpr std::size_t kBeyondCaches = std::size_t{8} << 20;

// memcpy for a block that goes into a buffer too large for the caches: it is written past them, so that memory is not
// read before it is written over, and what the caches hold stays. Any alignment; one thread.
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

}  // namespace penstock
