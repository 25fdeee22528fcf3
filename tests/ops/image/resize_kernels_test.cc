// Each instruction set against the scalar kernels, which golden_image_test.cc compares with Pillow; and that no byte
// outside the rows of a view and the memory of an output is touched.
#include <gtest/gtest.h>
#include <penstock/image/resize.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/ops/image/kernels.h"
#include "tests/support/guarded_memory.h"

namespace penstock::image {
namespace {

using testing::Guard;
using testing::GuardedMemory;

// CI looks at some cases of each kind, PENSTOCK_FULL at ten times as many.
int cases(int in_ci) { return std::getenv("PENSTOCK_FULL") != nullptr ? 10 * in_ci : in_ci; }

using Twister = std::mt19937;

// Small numbers as often as large ones.
std::int64_t length(Twister& random, std::int64_t most) {
  const double bits = std::uniform_real_distribution<double>(0, std::log2(static_cast<double>(most) + 0.99))(random);
  return std::clamp(static_cast<std::int64_t>(std::exp2(bits)), std::int64_t{1}, most);
}

// Pixels whose last row ends where the memory ends, or whose first one begins where it begins.
struct DrawnPicture {
  GuardedMemory<std::uint8_t> memory;
  ImageView view;

  DrawnPicture(Size size, std::int64_t gap, Guard guard, Twister& random)
      : memory(static_cast<std::size_t>(size.height * (size.width * 3 + gap) - gap), guard),
        view{memory.data(), size.height, size.width, size.width * 3 + gap} {
    std::ranges::generate(memory.values(), [&random] { return static_cast<std::uint8_t>(random()); });
  }
};

struct ResizeCase {
  Size from, to;
  Region region;
  Filter filter;
  Output out;
  std::string text;
};

Region region_of(Size size, Twister& random) {
  if (random() % 2 == 0) return {0, 0, static_cast<float>(size.width), static_cast<float>(size.height)};
  const auto cut = [&random](std::int64_t n) {
    std::uniform_real_distribution<float> uniform(0, static_cast<float>(n));
    const float a = uniform(random), b = uniform(random);
    return a < b ? std::array{a, b} : std::array{b, a + 1e-3F};
  };
  const auto [left, right] = cut(size.width);
  const auto [upper, lower] = cut(size.height);
  return {left, upper, std::min(right, static_cast<float>(size.width)),
          std::min(lower, static_cast<float>(size.height))};
}

Output output_of_any_kind(Twister& random) {
  constexpr std::array types{DType::u8, DType::u8, DType::f32, DType::f16, DType::bf16};
  Output out;
  out.type = types[random() % types.size()];
  out.layout = random() % 2 == 0 ? Layout::nhwc : Layout::nchw;
  out.mirror = random() % 2 == 0 ? Mirror::yes : Mirror::no;
  out.stream = random() % 2 == 0;
  out.normaliser = out.type != DType::u8 && random() % 4 != 0 ? &normaliser() : nullptr;
  return out;
}

std::string text_of(const ResizeCase& one) {
  const Region& r = one.region;
  return std::to_string(one.from.height) + "x" + std::to_string(one.from.width) + " [" + std::to_string(r.upper) + "," +
         std::to_string(r.left) + "," + std::to_string(r.lower) + "," + std::to_string(r.right) + "] -> " +
         std::to_string(one.to.height) + "x" + std::to_string(one.to.width) + " filter " +
         std::to_string(static_cast<int>(one.filter)) + " " + std::string(to_string(one.out.type)) + " layout " +
         std::to_string(static_cast<int>(one.out.layout)) + " mirror " +
         std::to_string(static_cast<int>(one.out.mirror));
}

ResizeCase drawn_resize(Twister& random, std::int64_t most_from, std::int64_t most_to) {
  constexpr std::array filters{Filter::nearest, Filter::bilinear, Filter::bilinear, Filter::bicubic};
  ResizeCase one{.from = {length(random, most_from), length(random, most_from)},
                 .to = {length(random, most_to), length(random, most_to)},
                 .region = {},
                 .filter = filters[random() % filters.size()],
                 .out = output_of_any_kind(random),
                 .text = {}};
  one.region = region_of(one.from, random);
  one.text = text_of(one);
  return one;
}

std::vector<std::byte> resized(const ResizeCase& one, const ImageView& view, Simd simd, Guard guard) {
  const GuardedMemory<std::byte> memory(one.to.values() * size_of(one.out.type), guard);
  Output out = one.out;
  out.memory = memory.values();
  out.simd = simd;
  resize(part_of(view), one.region, one.to, out, {.filter = one.filter});
  return {memory.values().begin(), memory.values().end()};
}

class ResizeKernelsTest : public ::testing::TestWithParam<Simd> {
 protected:
  void expect_scalar_bytes(const ResizeCase& one, Twister& random) {
    const Guard guard = random() % 2 == 0 ? Guard::behind : Guard::before;
    const DrawnPicture picture(one.from, static_cast<std::int64_t>(random() % 3 * (random() % 100)), guard, random);
    ASSERT_EQ(resized(one, picture.view, GetParam(), guard), resized(one, picture.view, Simd::scalar, guard))
        << one.text;
  }
};

TEST_P(ResizeKernelsTest, GiveTheScalarBytesOfSmallPictures) {
  Twister random(1);
  for (int i = 0; i < cases(1500); ++i)
    ASSERT_NO_FATAL_FAILURE(expect_scalar_bytes(drawn_resize(random, 70, 70), random));
}

TEST_P(ResizeKernelsTest, GiveTheScalarBytesOfUsualPictures) {
  Twister random(2);
  for (int i = 0; i < cases(60); ++i)
    ASSERT_NO_FATAL_FAILURE(expect_scalar_bytes(drawn_resize(random, 600, 300), random));
}

TEST_P(ResizeKernelsTest, GiveTheScalarBytesOfLargePictures) {
  Twister random(5);
  for (int i = 0; i < cases(20) / 10; ++i)
    ASSERT_NO_FATAL_FAILURE(expect_scalar_bytes(drawn_resize(random, 4096, 4096), random));
}

TEST_P(ResizeKernelsTest, GiveTheScalarBytesAtExtremeScales) {
  Twister random(3);
  for (const auto& [from, to] : {std::pair{Size{4096, 5}, Size{1, 5}},
                                 {{5, 4096}, {5, 1}},
                                 {{1, 4096}, {3, 7}},
                                 {{1, 1}, {60, 600}},
                                 {{2, 3}, {600, 4}},
                                 {{4000, 90}, {2, 77}},
                                 {{90, 4000}, {77, 2}},
                                 {{3, 1300}, {5, 97}}})
    for (const Filter filter : {Filter::nearest, Filter::bilinear, Filter::bicubic}) {
      ResizeCase one = drawn_resize(random, 1, 1);
      one = {from, to, {0, 0, static_cast<float>(from.width), static_cast<float>(from.height)}, filter, one.out, {}};
      one.text = text_of(one);
      ASSERT_NO_FATAL_FAILURE(expect_scalar_bytes(one, random));
    }
}

// Black beside white: sums that overshoot in both directions.
TEST_P(ResizeKernelsTest, ClipOvershootLikeTheScalarKernels) {
  Twister random(4);
  ResizeCase one{.from = {16, 200},
                 .to = {23, 290},
                 .region = {0, 0, 200, 16},
                 .filter = Filter::bicubic,
                 .out = {},
                 .text = "overshoot"};
  one.out.type = DType::u8;
  const DrawnPicture picture(one.from, 0, Guard::behind, random);
  for (std::uint8_t& value : picture.memory.values()) value = value % 2 == 0 ? 0 : 255;
  EXPECT_EQ(resized(one, picture.view, GetParam(), Guard::behind),
            resized(one, picture.view, Simd::scalar, Guard::behind));
}

TEST_P(ResizeKernelsTest, ResizeAPartLikeTheWhole) {
  Twister random(5);
  for (int i = 0; i < cases(60); ++i) {
    const Size size{length(random, 200) + 20, length(random, 200) + 20};
    const DrawnPicture picture(size, 0, Guard::behind, random);
    const Window source = centre_crop_source(size, 40, {30, 24});
    const ImagePart part{picture.view.window(source), source, size};
    std::vector<std::uint8_t> whole(Size{30, 24}.values()), of_part(whole.size());
    Output out{.memory = std::as_writable_bytes(std::span(of_part)), .type = DType::u8};
    out.simd = GetParam();
    resize_and_centre_crop(part, 40, {30, 24}, out);
    resize_and_centre_crop(picture.view, 40, {30, 24}, whole);
    ASSERT_EQ(of_part, whole);
  }
}

INSTANTIATE_TEST_SUITE_P(Simd, ResizeKernelsTest, ::testing::ValuesIn(supported_simd()), name_of);

}  // namespace
}  // namespace penstock::image
