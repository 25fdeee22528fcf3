// Unstuffing of each instruction set against a loop over bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "ops/image/entropy_kernels.h"
#include "tests/ops/image/kernels.h"
#include "tests/ops/image/scan_writer.h"
#include "tests/support/guarded_memory.h"

namespace penstock::image {
namespace {

using testing::drawn;
using testing::Guard;
using testing::GuardedMemory;
using ScanBytes = std::vector<std::uint8_t>;

class UnstuffTest : public ::testing::TestWithParam<Simd> {
 protected:
  const EntropyKernels& kernels() const { return entropy_kernels(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Simd, UnstuffTest, ::testing::ValuesIn(supported_simd()), name_of);

struct Unstuffed {
  ScanBytes bytes;
  std::size_t position;
  unsigned marker;

  friend bool operator==(const Unstuffed&, const Unstuffed&) = default;
};

// B.1.1.5, byte by byte.
Unstuffed plainly_unstuffed(const ScanBytes& file, std::size_t begin) {
  Unstuffed result{{}, begin, 0};
  for (std::size_t& i = result.position; i < file.size(); ++i) {
    if (file[i] != 0xff) {
      result.bytes.push_back(file[i]);
      continue;
    }
    if (i + 1 == file.size()) return result;
    result.marker = file[i + 1];
    if (result.marker != 0) return result;
    result.bytes.push_back(0xff);
    ++i;
  }
  return result;
}

// From memory that ends, and to memory that ends or begins, where a page begins that nobody may touch.
Unstuffed unstuffed(const ScanBytes& file, std::size_t begin, const EntropyKernels& kernels, Guard guard) {
  const GuardedMemory<std::uint8_t> from(file.size(), guard);
  const GuardedMemory<std::uint8_t> to(file.size() - begin + 64, guard);
  std::copy(file.begin(), file.end(), from.data());
  const UnstuffedScan scan = kernels.unstuff(from.data(), file.size(), begin, to.data());
  return {ScanBytes(to.data(), to.data() + scan.bytes), scan.position, scan.marker};
}

void expect_unstuffed(const ScanBytes& file, std::size_t begin, const EntropyKernels& kernels) {
  const Unstuffed expected = plainly_unstuffed(file, begin);
  for (const Guard guard : {Guard::behind, Guard::before})
    ASSERT_TRUE(unstuffed(file, begin, kernels, guard) == expected) << file.size() << " bytes from " << begin;
}

TEST_P(UnstuffTest, CopiesEveryLengthWithAMarkerOrAStuffedByteEverywhere) {
  for (std::size_t size = 1; size < 150; ++size)
    for (std::size_t at = 0; at < size; at += 1 + size / 40)
      for (const int behind : {-1, 0, 0xd9, 0xff}) {
        ScanBytes file(size, 7);
        file[at] = 0xff;
        if (at + 1 < size && behind >= 0) file[at + 1] = static_cast<std::uint8_t>(behind);
        ASSERT_NO_FATAL_FAILURE(expect_unstuffed(file, size % 3 % size, kernels()));
      }
}

TEST_P(UnstuffTest, CopiesDrawnBytes) {
  std::minstd_rand random(4);
  for (int i = 0; i < 2000; ++i) {
    ScanBytes file(1 + drawn(random, 400));
    const auto ffs = 1 + drawn(random, 60);  // one byte in so many
    const auto markers = 1 + drawn(random, 100);
    for (std::size_t k = 0; k < file.size(); ++k) {
      const bool behind_ff = k > 0 && file[k - 1] == 0xff;
      file[k] = drawn(random, ffs) == 0 ? 0xff : static_cast<std::uint8_t>(drawn(random, 256));
      if (behind_ff && drawn(random, markers) != 0) file[k] = 0;
    }
    ASSERT_NO_FATAL_FAILURE(expect_unstuffed(file, drawn(random, file.size()), kernels()));
  }
}

TEST_P(UnstuffTest, CopiesNothingBehindTheEnd) {
  const UnstuffedScan scan = kernels().unstuff(nullptr, 0, 0, nullptr);
  EXPECT_EQ(scan.bytes, 0);
  EXPECT_EQ(scan.marker, 0);
}

}  // namespace
}  // namespace penstock::image
