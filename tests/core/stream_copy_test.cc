#include "lib/core/stream_copy.h"

#include <gtest/gtest.h>

#include <vector>

namespace penstock {
namespace {

TEST(StreamCopy, CopiesEveryByteAndNoOther) {
  constexpr std::size_t most = 400;
  std::vector<std::byte> from(most + 64);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(1 + i % 251);
  for (std::size_t bytes = 0; bytes <= most; ++bytes) {
    for (const std::size_t offset : {0u, 1u, 15u, 16u, 63u}) {
      std::vector<std::byte> to(most + 256);
      stream_copy(to.data() + offset, from.data() + bytes % 64, bytes);
      std::vector<std::byte> expected(to.size());
      std::copy_n(from.data() + bytes % 64, bytes, expected.data() + offset);
      ASSERT_EQ(to, expected) << bytes << " bytes at " << offset;
    }
  }
}

}  // namespace
}  // namespace penstock
