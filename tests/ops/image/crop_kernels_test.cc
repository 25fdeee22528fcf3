// crop_and_resize of each instruction set against the scalar kernel; that one, pixel by pixel, against TensorFlow's
// formulas. The golden files check both.
#include <gtest/gtest.h>
#include <penstock/image/crop_and_resize.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <ostream>
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

constexpr std::array kTypes{DType::f32, DType::f16, DType::bf16, DType::u8};

int repetitions(int usual) {
  const char* const full = std::getenv("PENSTOCK_FULL");
  return full && std::string(full) == "1" ? 10 * usual : usual;
}

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : bits_(seed) {}

  std::int64_t whole(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(bits_);
  }
  float real(float least, float most) { return std::uniform_real_distribution<float>(least, most)(bits_); }
  bool one_of(int n) { return whole(1, n) == 1; }

  // Mostly small.
  std::int64_t side(std::int64_t most) { return one_of(20) ? whole(1, most) : whole(1, one_of(3) ? 300 : 40); }

 private:
  std::mt19937_64 bits_;
};

// Corners on pixels, at borders and anywhere; inside, across and beyond.
float corner(Draws& random) {
  switch (random.whole(0, 7)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return random.real(-3, 4);
    case 3: return static_cast<float>(random.whole(-8, 16)) / 8;
    default: return random.real(-0.05F, 1.05F);
  }
}

Box drawn_box(Draws& random) {
  if (random.one_of(50)) return {-3e38F, random.real(-1e30F, 1), 3e38F, 1e30F};
  Box box{corner(random), corner(random), corner(random), corner(random)};
  if (random.one_of(10)) box.ymax = box.ymin;
  if (random.one_of(10)) box.xmax = box.xmin;
  return box;
}

struct CropCase {
  Size whole, size;
  Box box;
  CropOptions options;
  DType type = DType::f32;
  Layout layout = Layout::nhwc;
  Mirror mirror = Mirror::no;
  bool normalised = false, stream = false;
};

CropCase drawn_crop(Draws& random) {
  CropCase one;
  one.whole = {random.side(4096), random.side(4096)};
  one.size = {random.side(600), random.side(600)};
  one.box = drawn_box(random);
  one.options.method = random.one_of(4) ? Interpolation::nearest : Interpolation::bilinear;
  one.options.extrapolation = random.one_of(2) ? 0 : random.real(-10, 300);
  one.type = kTypes[static_cast<std::size_t>(random.whole(0, 3))];
  one.layout = random.one_of(2) ? Layout::nchw : Layout::nhwc;
  one.mirror = random.one_of(2) ? Mirror::yes : Mirror::no;
  one.normalised = one.type != DType::u8 && random.one_of(3);
  one.stream = random.one_of(2);
  return one;
}

std::ostream& operator<<(std::ostream& out, const CropCase& one) {
  return out << one.whole.height << " x " << one.whole.width << " -> " << one.size.height << " x " << one.size.width
             << ", box " << one.box.ymin << " " << one.box.xmin << " " << one.box.ymax << " " << one.box.xmax << ", "
             << to_string(one.type) << (one.layout == Layout::nchw ? " nchw" : " nhwc")
             << (one.mirror == Mirror::yes ? " mirrored" : "")
             << (one.options.method == Interpolation::nearest ? " nearest" : "")
             << (one.normalised ? " normalised" : "") << (one.stream ? " stream" : "");
}

Output output_for(const CropCase& one, std::span<std::byte> memory, Simd simd) {
  return {.memory = memory,
          .type = one.type,
          .layout = one.layout,
          .mirror = one.mirror,
          .normaliser = one.normalised ? &normaliser() : nullptr,
          .stream = one.stream,
          .simd = simd};
}

std::size_t bytes_of_result(const CropCase& one) { return one.size.values() * size_of(one.type); }

std::vector<std::byte> result_of(const CropCase& one, const ImagePart& part, Simd simd) {
  std::vector<std::byte> memory(bytes_of_result(one), std::byte{0xa5});
  crop_and_resize(part, one.box, one.size, output_for(one, memory, simd), one.options);
  return memory;
}

// ---- TensorFlow's formulas, one position after the other.

std::optional<float> position(float low, float high, std::int64_t extent, std::int64_t i, std::int64_t n) {
  const auto span = static_cast<float>(extent - 1);
  if (extent == 1) return 0.0F;
  const float scale = n > 1 ? (high - low) * span / static_cast<float>(n - 1) : 0;
  const float at = n > 1 ? low * span + static_cast<float>(i) * scale
                         : static_cast<float>(0.5 * static_cast<double>(low + high) * span);
  if (at >= 0 && at <= span) return at;
  return {};
}

std::int64_t below(float at, Interpolation method) {
  return static_cast<std::int64_t>(method == Interpolation::nearest ? std::round(at) : std::floor(at));
}

std::int64_t above(float at, Interpolation method) {
  return static_cast<std::int64_t>(method == Interpolation::nearest ? std::round(at) : std::ceil(at));
}

// The rows or columns of the image that a box needs.
struct Lines {
  std::int64_t first = 0, count = 1;
};

Lines lines_of(float low, float high, std::int64_t extent, std::int64_t n, Interpolation method) {
  std::int64_t least = extent, most = -1;
  for (std::int64_t i = 0; i < n; ++i)
    if (const auto at = position(low, high, extent, i, n)) {
      least = std::min(least, below(*at, method));
      most = std::max(most, above(*at, method));
    }
  return most < 0 ? Lines{} : Lines{least, most - least + 1};
}

Window window_of(const CropCase& one) {
  const Lines rows = lines_of(one.box.ymin, one.box.ymax, one.whole.height, one.size.height, one.options.method);
  const Lines columns = lines_of(one.box.xmin, one.box.xmax, one.whole.width, one.size.width, one.options.method);
  return {rows.first, columns.first, rows.count, columns.count};
}

// The window's pixels in memory whose first byte follows, or whose last byte precedes, a page that nobody may touch.
class GuardedPicture {
 public:
  GuardedPicture(const CropCase& one, const Window& window, std::int64_t gap, Guard guard, std::uint64_t seed)
      : stride_(window.width * 3 + gap),
        memory_(static_cast<std::size_t>((window.height - 1) * stride_ + window.width * 3), guard),
        part_{{memory_.data(), window.height, window.width, stride_}, window, one.whole} {
    std::uint64_t state = seed;
    for (std::uint8_t& byte : memory_.values())
      byte = static_cast<std::uint8_t>((state = state * 6364136223846793005U + 1) >> 56);
  }

  const ImagePart& part() const { return part_; }

 private:
  std::int64_t stride_;
  GuardedMemory<std::uint8_t> memory_;
  ImagePart part_;
};

class CropKernelsTest : public ::testing::TestWithParam<Simd> {};

TEST_P(CropKernelsTest, GiveTheBitsOfTheScalarKernelFromWindowsAsSmallAsPossible) {
  Draws random(7);
  for (int i = 0; i < repetitions(3000); ++i) {
    const CropCase one = drawn_crop(random);
    const Guard guard = random.one_of(2) ? Guard::before : Guard::behind;
    const GuardedPicture picture(one, window_of(one), random.one_of(2) ? 0 : random.whole(1, 70), guard,
                                 static_cast<std::uint64_t>(i));
    const GuardedMemory<std::byte> got(bytes_of_result(one), guard);
    crop_and_resize(picture.part(), one.box, one.size, output_for(one, got.values(), GetParam()), one.options);
    const std::vector<std::byte> expected = result_of(one, picture.part(), Simd::scalar);
    ASSERT_EQ(std::memcmp(got.data(), expected.data(), expected.size()), 0) << one;
  }
}

// Between every two widths near which kernels change how they gather.
TEST_P(CropKernelsTest, GiveTheBitsOfTheScalarKernelAtEveryWidth) {
  for (std::int64_t width = 1; width <= 140; ++width)
    for (const std::int64_t columns : {1, 2, 5, 6, 16, 17, 43, 64})
      for (const bool reversed : {false, true}) {
        const CropCase one{{3, width}, {2, columns}, reversed ? Box{0, 1, 1, 0} : Box{}, {}};
        const GuardedPicture picture(one, window_of(one), 0, Guard::behind, static_cast<std::uint64_t>(width));
        ASSERT_EQ(result_of(one, picture.part(), GetParam()), result_of(one, picture.part(), Simd::scalar)) << one;
      }
}

TEST_P(CropKernelsTest, WriteToAnyAddressThatIsAlignedToTheValues) {
  const CropCase shape{{60, 90}, {20, 37}, {-0.1F, 0.1F, 0.9F, 1.1F}, {.extrapolation = 7}};
  const GuardedPicture picture(shape, window_of(shape), 0, Guard::behind, 1);
  for (const DType type : kTypes)
    for (std::size_t shift = 0; shift < 64; shift += size_of(type)) {
      CropCase one = shape;
      one.type = type;
      one.stream = true;
      const std::vector<std::byte> expected = result_of(one, picture.part(), Simd::scalar);
      std::vector<std::byte> memory(expected.size() + shift);
      const auto place = std::span(memory).subspan(shift);
      crop_and_resize(picture.part(), one.box, one.size, output_for(one, place, GetParam()), one.options);
      ASSERT_TRUE(std::ranges::equal(place, expected)) << one << " at " << shift;
    }
}

INSTANTIATE_TEST_SUITE_P(Simd, CropKernelsTest, ::testing::ValuesIn(supported_simd()), name_of);

// ---- The scalar kernel.

double value_in(const std::vector<std::byte>& memory, DType type, std::size_t i) {
  const auto read = [&]<class Value>(Value value) {
    std::memcpy(&value, memory.data() + i * sizeof value, sizeof value);
    return value;
  };
  if (type == DType::f32) return read(0.0F);
  if (type == DType::f16) return from_f16(read(std::uint16_t{}));
  if (type == DType::bf16) return from_bf16(read(std::uint16_t{}));
  return read(std::uint8_t{});
}

double rounded_to(DType type, float value) {
  if (type == DType::f16) return from_f16(to_f16(value));
  if (type == DType::bf16) return from_bf16(to_bf16(value));
  if (type == DType::u8) return to_u8(value);
  return value;
}

float normalised(float value, std::size_t c) {
  return (value * static_cast<float>(1.0 / 255.0) - Normaliser::imagenet_mean[c]) / Normaliser::imagenet_deviation[c];
}

float pixel(const ImagePart& part, std::int64_t y, std::int64_t x, std::size_t c) {
  return part.pixels.row(y - part.window.y)[3 * (x - part.window.x) + static_cast<std::int64_t>(c)];
}

float mixed(float a, float b, float fraction) { return a + (b - a) * fraction; }

float value_of(const CropCase& one, const ImagePart& part, std::int64_t y, std::int64_t x, std::size_t c) {
  const auto at_y = position(one.box.ymin, one.box.ymax, one.whole.height, y, one.size.height);
  const auto at_x = position(one.box.xmin, one.box.xmax, one.whole.width, x, one.size.width);
  if (!at_y || !at_x) return one.options.extrapolation;
  const std::int64_t top = below(*at_y, one.options.method), bottom = above(*at_y, one.options.method);
  const std::int64_t left = below(*at_x, one.options.method), right = above(*at_x, one.options.method);
  if (one.options.method == Interpolation::nearest) return pixel(part, top, left, c);
  const float fraction = *at_x - static_cast<float>(left);
  return mixed(mixed(pixel(part, top, left, c), pixel(part, top, right, c), fraction),
               mixed(pixel(part, bottom, left, c), pixel(part, bottom, right, c), fraction),
               *at_y - static_cast<float>(top));
}

std::size_t place_of(const CropCase& one, std::int64_t y, std::int64_t x, std::size_t c) {
  const auto width = static_cast<std::size_t>(one.size.width);
  const auto row = static_cast<std::size_t>(y);
  const std::size_t column =
      one.mirror == Mirror::yes ? width - 1 - static_cast<std::size_t>(x) : static_cast<std::size_t>(x);
  if (one.layout == Layout::nhwc) return (row * width + column) * 3 + c;
  return (c * static_cast<std::size_t>(one.size.height) + row) * width + column;
}

void expect_formulas(const CropCase& one, const ImagePart& part) {
  const std::vector<std::byte> got = result_of(one, part, Simd::scalar);
  for (std::int64_t y = 0; y < one.size.height; ++y)
    for (std::int64_t x = 0; x < one.size.width; ++x)
      for (std::size_t c = 0; c < 3; ++c) {
        const float value = value_of(one, part, y, x, c);
        const double expected = rounded_to(one.type, one.normalised ? normalised(value, c) : value);
        ASSERT_EQ(value_in(got, one.type, place_of(one, y, x, c)), expected)
            << one << " at " << y << ", " << x << ", " << c;
      }
}

TEST(CropOutput, OfTheScalarKernelFollowsTensorFlowsFormulas) {
  Draws random(11);
  for (int i = 0; i < repetitions(300); ++i) {
    const CropCase one = drawn_crop(random);
    expect_formulas(one, GuardedPicture(one, window_of(one), 0, Guard::behind, static_cast<std::uint64_t>(i)).part());
  }
}

TEST(CropOutput, OfAWindowIsThatOfTheWholeImage) {
  Draws random(13);
  for (int i = 0; i < repetitions(300); ++i) {
    const CropCase one = drawn_crop(random);
    const GuardedPicture picture(one, {0, 0, one.whole.height, one.whole.width}, 0, Guard::behind,
                                 static_cast<std::uint64_t>(i));
    const Window window = window_of(one);
    const ImagePart part{picture.part().pixels.window(window), window, one.whole};
    ASSERT_EQ(result_of(one, part, Simd::automatic), result_of(one, picture.part(), Simd::automatic)) << one;
  }
}

// ---- What is refused.

struct Ten {
  Tensor pixels{DType::u8, {10, 10, 3}};
  std::vector<float> values = std::vector<float>(48);
  ImagePart part = part_of(view_of(pixels));
  Output out{.memory = std::as_writable_bytes(std::span(values))};

  void crop(const Box& box = {}) const { crop_and_resize(part, box, {4, 4}, out); }
};

TEST(CropOutput, RefusesABoxThatNeedsMoreThanTheWindow) {
  const Ten ten_rows;
  for (const Window& window : {Window{1, 0, 9, 10}, Window{0, 1, 10, 9}, Window{0, 0, 9, 10}, Window{0, 0, 10, 9}}) {
    Ten ten;
    ten.part = {ten_rows.part.pixels.window(window), window, {10, 10}};
    EXPECT_ERROR(ten.crop(), ErrorCode::invalid_argument, "but the part given has");
    ten.crop({0.2F, 0.2F, 0.8F, 0.8F});
    ten.crop({0, 2, 1, 3});  // outside in one direction: no pixel is needed
  }
}

TEST(CropOutput, RefusesMemoryOfAnotherSizeOrAlignment) {
  Ten ten;
  ten.out.memory = ten.out.memory.first(47 * sizeof(float));
  EXPECT_ERROR(ten.crop(), ErrorCode::invalid_argument, "needs 192 bytes, but its memory has 188");
  ten.out = {.memory = std::as_writable_bytes(std::span(ten.values)).subspan(1, 96), .type = DType::f16};
  EXPECT_ERROR(ten.crop(), ErrorCode::invalid_argument, "not aligned to values of f16");
}

TEST(CropOutput, RefusesOtherTypesAndNormalisedBytes) {
  Ten ten;
  ten.out.type = DType::i32;
  EXPECT_ERROR(ten.crop(), ErrorCode::invalid_argument, "but is i32");
  ten.out = {.memory = ten.out.memory.first(48), .type = DType::u8, .normaliser = &normaliser()};
  EXPECT_ERROR(ten.crop(), ErrorCode::invalid_argument, "bytes cannot be normalised");
}

}  // namespace
}  // namespace penstock::image
