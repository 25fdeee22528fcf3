// Eight bytes at a time: M. E. Kounavis, F. L. Berry, "A Systematic Approach to Building High Performance
// Software-based CRC Generators", ISCC 2005 ("slicing by 8").
#include "lib/core/crc32.h"

#include <array>
#include <cstddef>

namespace penstock {
namespace {

constexpr std::size_t kSlices = 8;
using Table = std::array<std::uint32_t, 256>;

// [k][b]: what a byte b changes that k bytes follow.
constexpr std::array<Table, kSlices> kTables = [] {
  std::array<Table, kSlices> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < kSlices; ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xFF];
  return tables;
}();

constexpr std::uint32_t byte_at(std::string_view bytes, std::size_t place) {
  return static_cast<unsigned char>(bytes[place]);
}
// The first one is the lowest. Compilers make one load of it.
constexpr std::uint32_t word_at(std::string_view bytes, std::size_t place) {
  return byte_at(bytes, place) | byte_at(bytes, place + 1) << 8 | byte_at(bytes, place + 2) << 16 |
         byte_at(bytes, place + 3) << 24;
}
constexpr std::uint32_t moved_on(std::uint32_t word, std::size_t bytes_that_follow) {
  return kTables[bytes_that_follow + 3][word & 0xFF] ^ kTables[bytes_that_follow + 2][word >> 8 & 0xFF] ^
         kTables[bytes_that_follow + 1][word >> 16 & 0xFF] ^ kTables[bytes_that_follow][word >> 24];
}

}  // namespace

std::uint32_t crc32(std::string_view bytes) noexcept {
  std::uint32_t crc = ~0u;
  std::size_t place = 0;
  for (; bytes.size() - place >= kSlices; place += kSlices)
    crc = moved_on(crc ^ word_at(bytes, place), 4) ^ moved_on(word_at(bytes, place + 4), 0);
  for (; place < bytes.size(); ++place) crc = (crc >> 8) ^ kTables[0][(crc ^ byte_at(bytes, place)) & 0xFF];
  return ~crc;
}

}  // namespace penstock
