// Tells AddressSanitizer, where it is built in, what of a pool's memory may be touched.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define PENSTOCK_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PENSTOCK_ASAN 1
#endif
#endif
#ifdef PENSTOCK_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace penstock {

inline void set_accessible([[maybe_unused]] void* at, [[maybe_unused]] std::size_t bytes,
                           [[maybe_unused]] bool accessible) noexcept {
#ifdef PENSTOCK_ASAN
  if (accessible)
    ASAN_UNPOISON_MEMORY_REGION(at, bytes);
  else
    ASAN_POISON_MEMORY_REGION(at, bytes);
#endif
}

}  // namespace penstock
