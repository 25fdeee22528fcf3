#include "lib/core/crc32.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/support/random.h"

namespace penstock {
namespace {

// The check value that the catalogue of CRC algorithms gives for CRC-32/ISO-HDLC.
TEST(Crc32, HasThePublishedCheckValue) { EXPECT_EQ(crc32("123456789"), 0xCBF43926u); }

// As zlib and Python's binascii have it.
TEST(Crc32, TakesBytesOfEveryValue) { EXPECT_EQ(crc32(std::string(32, '\xFF')), 0xFF6CAB0Bu); }

// Bit by bit.
std::uint32_t remainder_of(const std::string& bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

TEST(Crc32, OfAnyNumberOfBytesIsTheRemainder) {
  test::Random random(1);
  std::string bytes;
  for (int size = 0; size < 200; ++size) {
    EXPECT_EQ(crc32(bytes), remainder_of(bytes)) << size;
    bytes.push_back(static_cast<char>(random.below(256)));
  }
}

TEST(Crc32, OfNothingIsZero) { EXPECT_EQ(crc32(""), 0u); }

}  // namespace
}  // namespace penstock
