#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/image/convert.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock::image {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr float inf = std::numeric_limits<float>::infinity();

bool is_nan16(std::uint16_t bits) { return (bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0; }

// Every 16-bit pattern is the rounding of its own value and of all floats nearer to it than to its
// neighbours.
TEST(HalfPrecision, EveryHalfSurvivesTheWayThroughFloat) {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    if (is_nan16(bits))
      ASSERT_TRUE(std::isnan(from_f16(bits)) && is_nan16(to_f16(from_f16(bits)))) << i;
    else
      ASSERT_EQ(to_f16(from_f16(bits)), bits);
  }
}

TEST(HalfPrecision, HalvesOfTheSpacingGoToTheEvenNeighbour) {
  for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const auto next = static_cast<std::uint16_t>(bits + 1);
    const float middle = (from_f16(bits) + from_f16(next)) / 2;  // exact in float
    ASSERT_EQ(to_f16(middle), bits % 2 == 0 ? bits : next);
    ASSERT_EQ(to_f16(std::nextafter(middle, 0.0F)), bits);
    ASSERT_EQ(to_f16(std::nextafter(middle, inf)), next);
    ASSERT_EQ(to_f16(-middle), (bits % 2 == 0 ? bits : next) | 0x8000);
  }
}

TEST(HalfPrecision, TheLargestValuesBecomeInfinity) {
  EXPECT_EQ(to_f16(65504), 0x7bff);
  EXPECT_EQ(to_f16(std::nextafter(65520.0F, 0.0F)), 0x7bff);
  EXPECT_EQ(to_f16(65520), 0x7c00);
  EXPECT_EQ(to_f16(1e30F), 0x7c00);
  EXPECT_EQ(to_f16(-inf), 0xfc00);
}

TEST(HalfPrecision, TheSmallestValuesBecomeSubnormalOrZero) {
  EXPECT_EQ(to_f16(0x1p-24F), 1);
  EXPECT_EQ(to_f16(0x1p-25F), 0);
  EXPECT_EQ(to_f16(std::nextafter(0x1p-25F, 1.0F)), 1);
  EXPECT_EQ(to_f16(-0.0F), 0x8000);
  EXPECT_EQ(to_f16(std::numeric_limits<float>::denorm_min()), 0);
}

TEST(Bfloat16, EveryPatternSurvivesTheWayThroughFloat) {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    if (std::isnan(from_bf16(bits)))
      ASSERT_TRUE(std::isnan(from_bf16(to_bf16(from_bf16(bits))))) << i;
    else
      ASSERT_EQ(to_bf16(from_bf16(bits)), bits);
  }
}

TEST(Bfloat16, RoundsToTheNearestHalvesToEven) {
  EXPECT_EQ(to_bf16(1.0F), 0x3f80);
  EXPECT_EQ(to_bf16(1.0F + 0x1p-8F), 0x3f80);
  EXPECT_EQ(to_bf16(1.0F + 3 * 0x1p-8F), 0x3f82);
  EXPECT_EQ(to_bf16(std::nextafter(1.0F + 0x1p-8F, 2.0F)), 0x3f81);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(to_bf16(-inf), 0xff80);
}

TEST(Bfloat16, NanWithLowBitsOnlyStaysNan) {
  const float nan = std::bit_cast<float>(0x7f800001U);
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(nan))));
}

TEST(ToU8, RoundsAndClips) {
  const std::vector<float> from{-1, -0.0F, 0.5F, 1.5F, 2.4999F, 254.5F, 254.6F, 255, 256, inf, -inf, std::nanf("")};
  std::vector<std::uint8_t> to(from.size());
  convert_to_u8(from, to);
  EXPECT_THAT(to, ElementsAre(0, 0, 0, 2, 2, 254, 255, 255, 255, 255, 0, 0));
}

TEST(Convert, SpansOfDifferentLengthAreRefused) {
  const std::vector<float> from(3);
  std::vector<std::uint16_t> to(2);
  EXPECT_ERROR(convert_to_f16(from, to), ErrorCode::invalid_argument, "3 values do not fit");
  EXPECT_ERROR(convert_to_bf16(from, to), ErrorCode::invalid_argument, "3 values do not fit");
}

Tensor two_pixels() {
  Tensor image(DType::u8, {1, 2, 3});
  std::ranges::copy(std::vector<std::uint8_t>{0, 51, 102, 153, 204, 255}, image.values<std::uint8_t>().begin());
  return image;
}

float normalised(float x, float mean, float deviation) {
  const float scaled = x * static_cast<float>(1.0 / 255);
  const float centred = scaled - mean;
  return centred / deviation;
}

TEST(Normaliser, TakesMeanAndDeviationOfEachColour) {
  const Tensor image = two_pixels();
  const Tensor out = Normaliser()(view_of(image), DType::f32);
  EXPECT_EQ(out.shape(), (Shape{1, 2, 3}));
  EXPECT_THAT(out.values<float>(), ElementsAre(normalised(0, 0.485F, 0.229F), normalised(51, 0.456F, 0.224F),
                                               normalised(102, 0.406F, 0.225F), normalised(153, 0.485F, 0.229F),
                                               normalised(204, 0.456F, 0.224F), normalised(255, 0.406F, 0.225F)));
}

// Mean 0 and deviation 1/255 (nearly) give the bytes back, which shows where each value went.
TEST(Normaliser, LayoutAndMirrorMoveValuesOnly) {
  const Normaliser plain({0, 0, 0}, {1, 1, 1});
  const Tensor image = two_pixels();
  const auto bytes = [&](const NormaliseOptions& options) {
    const Tensor out = plain(view_of(image), DType::f32, options);
    std::vector<int> result;
    for (const float value : out.values<float>()) result.push_back(static_cast<int>(std::lround(value * 255)));
    return result;
  };
  EXPECT_THAT(bytes({}), ElementsAre(0, 51, 102, 153, 204, 255));
  EXPECT_THAT(bytes({.mirror = Mirror::yes}), ElementsAre(153, 204, 255, 0, 51, 102));
  EXPECT_THAT(bytes({.layout = Layout::nchw}), ElementsAre(0, 153, 51, 204, 102, 255));
  EXPECT_THAT(bytes({.layout = Layout::nchw, .mirror = Mirror::yes}), ElementsAre(153, 0, 204, 51, 255, 102));
}

TEST(Normaliser, SixteenBitValuesAreTheRoundedFloats) {
  const Normaliser normaliser;
  const Tensor image = two_pixels();
  const NormaliseOptions options{.layout = Layout::nchw};
  const Tensor f32 = normaliser(view_of(image), DType::f32, options);
  std::vector<std::uint16_t> expected(6);
  convert_to_f16(f32.values<float>(), expected);
  const Tensor f16 = normaliser(view_of(image), DType::f16, options);
  EXPECT_THAT(f16.values<std::uint16_t>(), ElementsAreArray(expected));
  convert_to_bf16(f32.values<float>(), expected);
  const Tensor bf16 = normaliser(view_of(image), DType::bf16, options);
  EXPECT_THAT(bf16.values<std::uint16_t>(), ElementsAreArray(expected));
  EXPECT_EQ(bf16.shape(), (Shape{3, 1, 2}));
}

TEST(Normaliser, WrongArgumentsAreRefused) {
  const Tensor image = two_pixels();
  const Normaliser normaliser;
  std::vector<float> small(5);
  std::vector<std::uint16_t> halves(6);
  EXPECT_ERROR(normaliser(view_of(image), DType::u8), ErrorCode::invalid_argument, "not u8");
  EXPECT_ERROR(normaliser(view_of(image), DType::i64, halves), ErrorCode::invalid_argument, "not i64");
  EXPECT_ERROR(normaliser(view_of(image), small), ErrorCode::invalid_argument, "needs 6 values");
  EXPECT_ERROR(Normaliser({0, 0, 0}, {1, 0, 1}), ErrorCode::invalid_argument, "colour 1");
  EXPECT_ERROR(Normaliser({0, inf, 0}, {1, 1, 1}), ErrorCode::invalid_argument, "finite");
}

}  // namespace
}  // namespace penstock::image
