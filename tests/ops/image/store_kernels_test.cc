// Each instruction set against the scalar kernels, which look results up in the tables that convert_test.cc checks.
#include "ops/image/store_kernels.h"

#include <gtest/gtest.h>
#include <penstock/image/output.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/ops/image/kernels.h"
#include "tests/support/expect_error.h"
#include "tests/support/guarded_memory.h"

namespace penstock::image {
namespace {

using testing::Guard;
using testing::GuardedMemory;

class StoreKernelsTest : public ::testing::TestWithParam<Simd> {};

std::vector<std::byte> stored(const ImageView& view, Output out, Simd simd, Guard guard) {
  const GuardedMemory<std::byte> memory(Size{view.height, view.width}.values() * size_of(out.type), guard);
  out.memory = memory.values();
  out.simd = simd;
  store(view, out);
  return {memory.values().begin(), memory.values().end()};
}

// All ways to store values with this normaliser or with none.
std::vector<Output> all_outputs(const Normaliser* normaliser) {
  std::vector<Output> all;
  for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::u8})
    for (const Layout layout : {Layout::nhwc, Layout::nchw})
      for (const Mirror mirror : {Mirror::no, Mirror::yes})
        for (const bool stream : {false, true})
          if (type != DType::u8 || normaliser == nullptr)
            all.push_back({.memory = {},
                           .type = type,
                           .layout = layout,
                           .mirror = mirror,
                           .normaliser = normaliser,
                           .stream = stream});
  return all;
}

// Rows of bytes that begin, and end, where their memory does.
void expect_scalar_values(Size size, const Normaliser* normaliser, Simd simd) {
  for (const Guard guard : {Guard::before, Guard::behind}) {
    const GuardedMemory<std::uint8_t> pixels(size.values(), guard);
    std::iota(pixels.values().begin(), pixels.values().end(), std::uint8_t{3});
    const ImageView view{pixels.data(), size.height, size.width, size.width * channels};
    for (const Output& out : all_outputs(normaliser))
      ASSERT_EQ(stored(view, out, simd, guard), stored(view, out, Simd::scalar, guard))
          << size.width << " pixels, " << to_string(out.type) << (out.layout == Layout::nchw ? " nchw" : " nhwc")
          << (out.mirror == Mirror::yes ? " mirrored" : "") << (out.stream ? " streamed" : "");
  }
}

TEST_P(StoreKernelsTest, StoreRowsOfAllLengths) {
  const Normaliser normaliser;
  for (std::int64_t width = 1; width < 70; ++width)
    for (const Normaliser* how : {&normaliser, static_cast<const Normaliser*>(nullptr)})
      ASSERT_NO_FATAL_FAILURE(expect_scalar_values({2, width}, how, GetParam()));
}

TEST_P(StoreKernelsTest, StoreAllBytesInAllColours) {
  const Normaliser normaliser;
  expect_scalar_values({3, 256}, &normaliser, GetParam());
  expect_scalar_values({3, 256}, nullptr, GetParam());
}

// Numbers that the reciprocal does not divide by exactly, that overflow, that become subnormal.
TEST_P(StoreKernelsTest, DivideWhereTheReciprocalIsNotExact) {
  std::minstd_rand random(5);
  std::uniform_real_distribution<float> exponent(-45, 38);
  for (int i = 0; i < 60; ++i) {
    Colour mean{}, deviation{};
    for (float& value : mean) value = std::pow(10.0F, exponent(random)) * (random() % 2 == 0 ? 1.0F : -1.0F);
    for (float& value : deviation) value = std::max(std::pow(10.0F, exponent(random)), 1e-45F);
    const Normaliser normaliser(mean, deviation);
    ASSERT_NO_FATAL_FAILURE(expect_scalar_values({1, 256}, &normaliser, GetParam())) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Simd, StoreKernelsTest, ::testing::ValuesIn(supported_simd()), name_of);

TEST(Normaliser, MultipliesByTheReciprocalForImagenet) { EXPECT_TRUE(Normaliser().tables().corrects_exactly); }

TEST(Store, RefusesWhatDoesNotFit) {
  Tensor image(DType::u8, {2, 4, 3});
  Tensor values(DType::f32, {2, 4, 3});
  const Normaliser normaliser;
  const ImageView view = view_of(image);
  const auto invalid = ErrorCode::invalid_argument;
  Output out = output_of(values, Layout::nhwc);
  out.memory = out.memory.first(92);
  EXPECT_ERROR(store(view, out), invalid, "needs 96 bytes");
  out.memory = {values.data() + 1, 96};
  EXPECT_ERROR(store(view, out), invalid, "not aligned");
  out = output_of(image, Layout::nhwc);
  out.normaliser = &normaliser;
  EXPECT_ERROR(store(view, out), invalid, "do not fit u8");
  out.type = DType::i64;
  EXPECT_ERROR(store(view, out), invalid, "f32, f16, bf16 or u8");
}

}  // namespace
}  // namespace penstock::image
