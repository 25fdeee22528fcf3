#include "lib/core/crc32.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

// The check value that the catalogue of CRC algorithms gives for CRC-32/ISO-HDLC.
TEST(Crc32, HasThePublishedCheckValue) { EXPECT_EQ(crc32("123456789"), 0xCBF43926u); }

TEST(Crc32, OfNothingIsZero) { EXPECT_EQ(crc32(""), 0u); }

}  // namespace
}  // namespace penstock
