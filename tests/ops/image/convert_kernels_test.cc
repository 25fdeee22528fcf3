// Each instruction set against to_f16(), to_bf16(), to_u8() of one value, which convert_test.cc checks for themselves.
#include "ops/image/convert_kernels.h"

#include <gtest/gtest.h>
#include <penstock/image/convert.h>

#include <algorithm>
#include <bit>
#include <random>
#include <vector>

#include "tests/ops/image/kernels.h"
#include "tests/support/guarded_memory.h"

namespace penstock::image {
namespace {

using testing::GuardedMemory;

class ConvertKernelsTest : public ::testing::TestWithParam<Simd> {
 protected:
  const ConvertKernels& kernels() const { return convert_kernels(GetParam()); }
};

// All exponents with the ends and middles of their fractions, where rounding turns; NaN and infinity among them.
std::vector<float> telling_floats() {
  std::vector<float> values;
  for (std::uint32_t high = 0; high < 0x10000; ++high)
    for (const std::uint32_t low : {0x0000U, 0x0001U, 0x0fffU, 0x1000U, 0x1001U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU})
      values.push_back(std::bit_cast<float>(high << 16 | low));
  for (int i = -8; i < 264 * 8; ++i) values.push_back(static_cast<float>(i) / 8);
  return values;
}

template <class To, class Kernel, class One> void expect_equal(const std::vector<float>& from, Kernel kernel, One one) {
  std::vector<To> got(from.size());
  kernel(from.data(), got.data(), from.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    ASSERT_EQ(got[i], one(from[i])) << std::bit_cast<std::uint32_t>(from[i]);
}

TEST_P(ConvertKernelsTest, RoundAsTheFunctionsOfOneValue) {
  const std::vector<float> from = telling_floats();
  expect_equal<std::uint16_t>(from, kernels().to_f16, to_f16);
  expect_equal<std::uint16_t>(from, kernels().to_bf16, to_bf16);
  expect_equal<std::uint8_t>(from, kernels().to_u8, to_u8);
}

template <class To, class Kernel, class One> void expect_inside(std::size_t count, Kernel kernel, One one) {
  const GuardedMemory<float> from(count);
  const GuardedMemory<To> to(count);
  for (std::size_t i = 0; i < count; ++i) from.values()[i] = static_cast<float>(i) * 1.7F;
  kernel(from.data(), to.data(), count);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(to.values()[i], one(from.values()[i])) << count;
}

TEST_P(ConvertKernelsTest, StayInsideTheirMemoryAtEveryLength) {
  for (std::size_t count = 0; count <= 4096; count += count < 300 ? 1 : 1 + count / 7) {
    expect_inside<std::uint16_t>(count, kernels().to_f16, to_f16);
    expect_inside<std::uint16_t>(count, kernels().to_bf16, to_bf16);
    expect_inside<std::uint8_t>(count, kernels().to_u8, to_u8);
  }
}

INSTANTIATE_TEST_SUITE_P(Simd, ConvertKernelsTest, ::testing::ValuesIn(supported_simd()), name_of);

TEST(Simd, ListsScalarFirstAndTheBestLast) {
  EXPECT_EQ(supported_simd().front(), Simd::scalar);
  EXPECT_EQ(supported_simd().back(), best_simd());
}

TEST(Simd, RefusesWhatTheMachineLacks) {
  for (const Simd simd : {Simd::sse4, Simd::avx2, Simd::avx512, Simd::neon}) {
    const std::vector<Simd> all = supported_simd();
    if (std::find(all.begin(), all.end(), simd) != all.end()) continue;
    EXPECT_THROW(convert_kernels(simd), Error) << to_string(simd);
  }
}

}  // namespace
}  // namespace penstock::image
