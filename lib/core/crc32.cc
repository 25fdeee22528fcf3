#include "lib/core/crc32.h"

namespace penstock {

std::uint32_t crc32(std::string_view bytes) noexcept {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

}  // namespace penstock
