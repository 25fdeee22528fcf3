// The scalar kernels against libjpeg itself; the others against them.
#include "ops/image/ycc_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/ops/image/kernels.h"
#include "tests/ops/image/libjpeg_oracle.h"
#include "tests/support/guarded_memory.h"
#include "tests/support/jpeg_coefficients.h"

namespace penstock::image {
namespace {

using testing::CoefficientBlock;
using testing::CoefficientPlane;
using testing::Guard;
using testing::GuardedMemory;
using testing::JpegCoefficients;
using testing::OracleColour;
using testing::SamplePlane;

using Samples = std::vector<std::uint8_t>;
using Twister = std::mt19937;

int number(Twister& random, int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

// ------------------------------------------------------------------------------------------------
// Pictures that libjpeg decodes

// Soft or hard blocks of all brightnesses.
CoefficientBlock drawn_block(Twister& random) {
  CoefficientBlock block{};
  block[0] = static_cast<std::int16_t>(number(random, -1000, 1000));
  for (int i = 0; i < 6; ++i)
    block[static_cast<std::size_t>(number(random, 1, 63))] = static_cast<std::int16_t>(number(random, -300, 300));
  return block;
}

// Chroma has a block where luma has across * down.
JpegCoefficients drawn_picture(Twister& random, int width, int height, int across, int down) {
  JpegCoefficients picture{.width = width, .height = height, .planes = {{.across = across, .down = down}, {}, {}}};
  for (std::size_t i = 0; i < 3; ++i) {
    const int count = blocks_across(picture, i) * blocks_down(picture, i);
    for (int k = 0; k < count; ++k) picture.planes[i].blocks.push_back(drawn_block(random));
  }
  return picture;
}

// A row as the kernels want it: its first and last sample beyond its ends.
struct Row {
  Samples bytes;

  Row(const std::uint8_t* from, std::size_t width) : bytes(kSampleMargin, from[0]) {
    bytes.insert(bytes.end(), from, from + width);
    bytes.insert(bytes.end(), kSampleMargin, from[width - 1]);
  }
  const std::uint8_t* begin() const { return bytes.data() + kSampleMargin; }
};

// Row `y` of a plane of `height` rows, those beyond repeated.
Row row_of(const SamplePlane& plane, std::ptrdiff_t y) {
  const auto at =
      static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(y, 0, static_cast<std::ptrdiff_t>(plane.used_height) - 1));
  return {plane.samples.data() + at * plane.width, plane.used_width};
}

// Row `y` of the picture, of a plane that has `across` x `down` pixels for each sample.
Samples upsampled_row(const YccKernels& kernels, const SamplePlane& plane, std::ptrdiff_t y, int across, int down) {
  const bool is_lower = y % 2 != 0;
  const Row nearer = row_of(plane, y / down), farther = row_of(plane, is_lower ? y / down + 1 : y / down - 1);
  const std::size_t width = plane.used_width;
  if (across == 1 && down == 1) return {nearer.begin(), nearer.begin() + width};
  Samples out(2 * width + kSampleMargin);
  if (across == 2 && down == 2) kernels.double_both(nearer.begin(), farther.begin(), width, out.data());
  if (across == 2 && down == 1) kernels.double_across(nearer.begin(), width, out.data());
  if (across == 1 && down == 2) kernels.mix_rows(nearer.begin(), farther.begin(), width, is_lower, out.data());
  return out;
}

void expect_rows(const YccKernels& kernels, const JpegCoefficients& picture) {
  const std::vector<std::byte> file = testing::encode(picture);
  const std::vector<SamplePlane> planes = testing::libjpeg_planes(file);
  const Samples ycc = testing::libjpeg_pixels(file, OracleColour::ycc),
                rgb = testing::libjpeg_pixels(file, OracleColour::rgb);
  const auto width = static_cast<std::size_t>(picture.width);
  for (int y = 0; y < picture.height; ++y) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < 3; ++i) {
      const CoefficientPlane& luma = picture.planes[0];
      const Samples row = upsampled_row(kernels, planes[i], y, i == 0 ? 1 : luma.across, i == 0 ? 1 : luma.down);
      const std::uint8_t* const expected = ycc.data() + static_cast<std::size_t>(y) * width * 3 + i;
      for (std::size_t x = 0; x < width; ++x) ASSERT_EQ(row[x], expected[3 * x]) << i << ' ' << y << ' ' << x;
      rows.emplace_back(row.data(), width);
    }
    Samples pixels(3 * width);
    kernels.rgb(rows[0].begin(), rows[1].begin(), rows[2].begin(), width, pixels.data());
    ASSERT_TRUE(std::equal(pixels.begin(), pixels.end(), rgb.begin() + static_cast<std::ptrdiff_t>(3 * width) * y))
        << y;
  }
}

class YccKernelsTest : public ::testing::TestWithParam<Simd> {
 protected:
  const YccKernels& kernels() const { return ycc_kernels(GetParam()); }
};

TEST_P(YccKernelsTest, PicturesOfEachSamplingAreAsLibjpegHasThem) {
  Twister random(1);
  for (const auto& [across, down] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}})
    for (int i = 0; i < 12; ++i) {
      const int width = i < 4 ? 5 + i : number(random, 6, 300), height = number(random, 1, 40);
      SCOPED_TRACE(::testing::Message() << across << " x " << down << ", " << width << " x " << height);
      ASSERT_NO_FATAL_FAILURE(expect_rows(kernels(), drawn_picture(random, width, height, across, down)));
    }
}

// ------------------------------------------------------------------------------------------------
// All values

TEST_P(YccKernelsTest, EveryColourIsAsTheScalarKernelHasIt) {
  Samples y, cb, cr;
  for (int blue = 0; blue < 256; ++blue)
    for (int red = 0; red < 256; ++red)
      for (const int grey : {0, 1, 17, 100, 128, 200, 254, 255}) {
        y.push_back(static_cast<std::uint8_t>(grey));
        cb.push_back(static_cast<std::uint8_t>(blue));
        cr.push_back(static_cast<std::uint8_t>(red));
      }
  const std::size_t width = y.size();
  const Row ys(y.data(), width), blues(cb.data(), width), reds(cr.data(), width);
  Samples got(3 * width), expected(3 * width);
  kernels().rgb(ys.begin(), blues.begin(), reds.begin(), width, got.data());
  kScalarYcc.rgb(ys.begin(), blues.begin(), reds.begin(), width, expected.data());
  EXPECT_EQ(got, expected);
}

TEST_P(YccKernelsTest, EveryPairOfSamplesIsMixedAsTheScalarKernelDoes) {
  Samples nearer, farther;
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) {
      nearer.push_back(static_cast<std::uint8_t>(a));
      farther.push_back(static_cast<std::uint8_t>(b));
    }
  const std::size_t width = nearer.size();
  const Row first(nearer.data(), width), second(farther.data(), width);
  for (const bool is_lower : {false, true}) {
    Samples got(width + kSampleMargin), expected(width + kSampleMargin);
    kernels().mix_rows(first.begin(), second.begin(), width, is_lower, got.data());
    kScalarYcc.mix_rows(first.begin(), second.begin(), width, is_lower, expected.data());
    got.resize(width);
    expected.resize(width);
    EXPECT_EQ(got, expected);
  }
}

// ------------------------------------------------------------------------------------------------
// Memory

struct GuardedRow {
  GuardedMemory<std::uint8_t> bytes;

  GuardedRow(Twister& random, std::size_t width, Guard where) : bytes(width + 2 * kSampleMargin, where) {
    for (std::uint8_t& byte : bytes.values()) byte = static_cast<std::uint8_t>(random());
  }
  const std::uint8_t* begin() const { return bytes.data() + kSampleMargin; }
};

// Both into guarded memory of `most` bytes; the first `exact` are compared.
template <class Call>
void expect_equal(std::size_t exact, std::size_t most, Guard where, const YccKernels& kernels, const Call& call) {
  const GuardedMemory<std::uint8_t> got(most, where), expected(most, where);
  call(kernels, got.data());
  call(kScalarYcc, expected.data());
  ASSERT_TRUE(std::equal(got.data(), got.data() + exact, expected.data()));
}

TEST_P(YccKernelsTest, EveryLengthStaysInsideItsMemory) {
  Twister random(2);
  for (std::size_t width = 1; width < 400; width += width < 270 ? 1 : 13)
    for (const Guard where : {Guard::behind, Guard::before}) {
      const GuardedRow a(random, width, where), b(random, width, where), c(random, width, where);
      const auto y = a.begin(), cb = b.begin(), cr = c.begin();
      SCOPED_TRACE(width);
      const auto check = [&](std::size_t written, std::size_t beyond, const auto& call) {
        ASSERT_NO_FATAL_FAILURE(expect_equal(written, written + beyond, where, kernels(), call));
      };
      check(3 * width, 0, [&](const YccKernels& k, std::uint8_t* out) { k.rgb(y, cb, cr, width, out); });
      check(3 * width, 0, [&](const YccKernels& k, std::uint8_t* out) { k.grey(y, width, out); });
      check(2 * width, kSampleMargin, [&](const YccKernels& k, std::uint8_t* out) { k.double_across(y, width, out); });
      check(width, kSampleMargin,
            [&](const YccKernels& k, std::uint8_t* out) { k.mix_rows(y, cb, width, width % 2 == 0, out); });
      check(2 * width, kSampleMargin,
            [&](const YccKernels& k, std::uint8_t* out) { k.double_both(y, cb, width, out); });
    }
}

INSTANTIATE_TEST_SUITE_P(Simd, YccKernelsTest, ::testing::ValuesIn(supported_simd()), name_of);

}  // namespace
}  // namespace penstock::image
