#include "lib/core/stream_copy.h"

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace penstock {

#if defined(__SSE2__)
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  constexpr std::size_t line = 64;
  const std::size_t before = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
  if (bytes < before + line) {
    std::memcpy(to, from, bytes);
    return;
  }
  std::memcpy(to, from, before);
  std::size_t at = before;
  for (; at + line <= bytes; at += line) {
    for (std::size_t part = 0; part < line; part += sizeof(__m128i)) {
      const auto values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at + part));
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + part), values);
    }
  }
  std::memcpy(to + at, from + at, bytes - at);
  _mm_sfence();  // these stores are not ordered by a mutex or an atomic alone
}
#else
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept { std::memcpy(to, from, bytes); }
#endif

}  // namespace penstock
