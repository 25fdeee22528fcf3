// FNV-1a of 64 bits: a number that two texts hardly ever share (Fowler, Noll, Vo; draft-eastlake-fnv).
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock {

// `before`: of what comes before the text, if it is given in parts.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t before = 0xcbf29ce484222325) noexcept {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return before;
}

}  // namespace penstock
