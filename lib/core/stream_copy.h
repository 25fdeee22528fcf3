// Copying into memory that is not looked at again soon.
#pragma once

#include <cstddef>

namespace penstock {

// memcpy for a block that goes into a buffer too large for the caches: it is written past them, so that memory is not read
// before it is written over, and what the caches hold stays. Any alignment; one thread.
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

}  // namespace penstock
