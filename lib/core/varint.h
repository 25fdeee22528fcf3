// Numbers in as few bytes as they need: seven bits in each, the lowest first, and the eighth says whether another one
// follows (Protocol Buffers, Encoding, "Base 128 Varints"). Signed ones that are small, whatever their sign, take few
// where they are written as "ZigZag" numbers (the same page).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penstock {

constexpr std::uint64_t zigzag(std::int64_t value) noexcept {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t from_zigzag(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
}

inline constexpr std::size_t kLongestVarint = 10;  // bytes

// Returns its end.
inline char* write_varint(char* to, std::uint64_t value) noexcept {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
  *to++ = static_cast<char>(value);
  return to;
}

inline void append_varint(std::string& bytes, std::uint64_t value) {
  char written[kLongestVarint];
  bytes.append(written, write_varint(written, value));
}

// Takes it from the front. nullopt: there is none, or none that fits 64 bits.
inline std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (shift == 63 && byte > 1) return std::nullopt;
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

}  // namespace penstock
