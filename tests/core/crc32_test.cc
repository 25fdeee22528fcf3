#include "lib/core/crc32.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock {
namespace {

// The check value that the catalogue of CRC algorithms gives for CRC-32/ISO-HDLC.
TEST(Crc32, HasThePublishedCheckValue) { EXPECT_EQ(crc32("123456789"), 0xCBF43926u); }

// As zlib and Python's binascii have it.
TEST(Crc32, TakesBytesOfEveryValue) { EXPECT_EQ(crc32(std::string(32, '\xFF')), 0xFF6CAB0Bu); }

TEST(Crc32, OfNothingIsZero) { EXPECT_EQ(crc32(""), 0u); }

}  // namespace
}  // namespace penstock
