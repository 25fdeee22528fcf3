// Rows V-01 to V-14 of the list of conformance cases: TensorFlow's own crop_and_resize_op_test.cc
// and runs of the real op. Then what is our own. TensorFlow's cases have one channel; here it
// stands in all three.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/image/convert.h>
#include <penstock/image/crop_and_resize.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock::image {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

using Values = std::vector<float>;

struct Picture {
  Picture(std::int64_t height, std::int64_t width, const std::vector<int>& values)
      : tensor(DType::u8, {height, width, 3}) {
    for (std::size_t i = 0; i < values.size(); ++i)
      for (std::size_t c = 0; c < 3; ++c)
        tensor.values<std::uint8_t>()[3 * i + c] = static_cast<std::uint8_t>(values[i]);
  }

  // The red values of one crop, after a check that the colours are equal.
  Values crop(const Box& box, Size size, const CropOptions& options = {}) const {
    std::vector<float> out(size.values());
    crop_and_resize(view_of(tensor), box, size, out, options);
    Values red;
    for (std::size_t i = 0; i < out.size(); i += 3) {
      EXPECT_EQ(out[i], out[i + 1]);
      EXPECT_EQ(out[i], out[i + 2]);
      red.push_back(out[i]);
    }
    return red;
  }

  Tensor tensor;
};

constexpr CropOptions kNearest{.method = Interpolation::nearest};
constexpr Box kWhole{};
constexpr Box mirrored{1, 1, 0, 0};

Picture two_by_two() { return {2, 2, {1, 2, 3, 4}}; }
Picture three_by_three() { return {3, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9}}; }

Picture four_by_five() {
  std::vector<int> values;
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 5; ++c) values.push_back((37 * (5 * r + c) + 11 * r) % 256);
  return {4, 5, values};
}

TEST(CropAndResize, OnePixelIsTheMiddleOfTheBox) {  // V-01
  EXPECT_THAT(two_by_two().crop(kWhole, {1, 1}), ElementsAre(2.5F));
  EXPECT_THAT(two_by_two().crop(kWhole, {1, 1}, kNearest), ElementsAre(4));
}

TEST(CropAndResize, EnlargesBetweenTheCentresOfThePixels) {  // V-02
  EXPECT_THAT(two_by_two().crop(kWhole, {3, 3}), ElementsAre(1, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4));
  EXPECT_THAT(two_by_two().crop(kWhole, {3, 3}, kNearest), ElementsAre(1, 2, 2, 3, 4, 4, 3, 4, 4));
}

TEST(CropAndResize, InvertedBoxMirrorsTheImage) {  // V-03
  EXPECT_THAT(two_by_two().crop(mirrored, {3, 3}), ElementsAre(4, 3.5, 3, 3, 2.5, 2, 2, 1.5, 1));
  EXPECT_THAT(two_by_two().crop(mirrored, {3, 3}, kNearest), ElementsAre(4, 4, 3, 4, 4, 3, 2, 2, 1));
}

TEST(CropAndResize, SeveralBoxesGiveOneCropEach) {  // V-04
  const Box boxes[] = {kWhole, {0, 0, 0.5F, 0.5F}};
  const Picture picture = three_by_three();
  const Tensor crops = crop_and_resize(view_of(picture.tensor), boxes, {2, 2});
  EXPECT_EQ(crops.shape(), (Shape{2, 2, 2, 3}));
  Values red;
  for (std::size_t i = 0; i < 24; i += 3) red.push_back(crops.values<float>()[i]);
  EXPECT_THAT(red, ElementsAre(1, 3, 7, 9, 1, 2, 4, 5));
}

TEST(CropAndResize, InvertedBoxesMirrorTheirParts) {  // V-05
  EXPECT_THAT(three_by_three().crop(mirrored, {2, 2}), ElementsAre(9, 7, 3, 1));
  EXPECT_THAT(three_by_three().crop({0.5F, 0.5F, 0, 0}, {2, 2}), ElementsAre(5, 4, 2, 1));
}

TEST(CropAndResize, PositionsOutsideTheImageAreExtrapolated) {  // V-06
  constexpr float v = -1;
  const Box outside{-1, -1, 1, 1};
  EXPECT_THAT(two_by_two().crop(outside, {3, 3}, {.extrapolation = v}), ElementsAre(v, v, v, v, 1, 2, v, 3, 4));
  EXPECT_THAT(two_by_two().crop(outside, {3, 3}), ElementsAre(0, 0, 0, 0, 1, 2, 0, 3, 4));
}

TEST(CropAndResize, NoBoxesGiveATensorWithoutCrops) {  // V-07
  const Picture picture = two_by_two();
  const Tensor crops = crop_and_resize(view_of(picture.tensor), {}, {3, 4});
  EXPECT_EQ(crops.shape(), (Shape{0, 3, 4, 3}));
  EXPECT_EQ(crops.dtype(), DType::f32);
}

TEST(CropAndResize, TensorsThatAreNoImagesAreRefused) {  // V-08, as far as it can happen here
  const auto image_must_be = "an image must be u8 [height, width, 3]";
  for (const Shape& shape : {Shape{2, 2}, Shape{1, 2, 2, 3}, Shape{2, 2, 4}, Shape{0, 2, 3}})
    EXPECT_ERROR(view_of(Tensor(DType::u8, shape)), ErrorCode::invalid_argument, image_must_be);
  EXPECT_ERROR(view_of(Tensor(DType::f32, {2, 2, 3})), ErrorCode::invalid_argument, image_must_be);
}

TEST(CropAndResize,
     QuartersOfARampKeepItsValues) {  // V-09; bytes hold 0..249, so the ramp starts again there
  std::vector<int> values;
  for (int i = 0; i < 999 * 999; ++i) values.push_back(i % 999 % 250);
  const Picture picture(999, 999, values);
  const auto check = [&](const Box& box, int first) {
    const Values crop = picture.crop(box, {500, 500});
    for (std::size_t i = 0; i < crop.size(); ++i) {
      const int column = first + static_cast<int>(i % 500);
      ASSERT_EQ(crop[i], static_cast<float>(column % 250)) << i;
    }
  };
  check({0, 0, 0.5F, 0.5F}, 0);
  check({0.5F, 0.5F, 1, 1}, 499);
}

TEST(CropAndResize, EnlargesACorner) {  // V-10
  const Picture picture(3, 3, {0, 2, 4, 6, 8, 10, 12, 14, 16});
  EXPECT_THAT(picture.crop({0.5F, 0.5F, 1, 1}, {3, 3}), ElementsAre(8, 9, 10, 11, 12, 13, 14, 15, 16));
}

TEST(CropAndResize, FractionalBoxBeyondTheRightBorder) {  // V-11
  const Values crop = four_by_five().crop({0.1F, 0.2F, 0.9F, 1.1F}, {4, 3});
  EXPECT_THAT(crop, ElementsAreArray(Values{88.4000015F, 78.2000046F, 0, 219.600006F, 55.7999878F, 0, 171.600006F,
                                            212.599976F, 0, 123.600014F, 190.200027F, 0}));
  Values halves;
  for (const float value : crop) halves.push_back(from_f16(to_f16(value)));
  EXPECT_THAT(halves, ElementsAreArray(Values{88.375F, 78.1875F, 0, 219.625F, 55.8125F, 0, 171.625F, 212.625F, 0,
                                              123.625F, 190.25F, 0}));
}

TEST(CropAndResize, WholeImageIsEnlargedRowByRow) {  // V-12
  const Values crop = four_by_five().crop(kWhole, {7, 9});
  const auto row = [&](int y) { return Values(crop.begin() + 9 * y, crop.begin() + 9 * (y + 1)); };
  EXPECT_THAT(row(0), ElementsAre(0, 18.5, 37, 55.5, 74, 92.5, 111, 129.5, 148));
  EXPECT_THAT(row(1), ElementsAre(98, 116.5, 135, 89.5, 44, 62.5, 81, 99.5, 118));
  EXPECT_THAT(row(6), ElementsAre(76, 94.5, 113, 131.5, 150, 168.5, 187, 205.5, 224));
}

TEST(CropAndResize, VocBoxAtTheRightBorderGetsABlackColumn) {  // V-13
  const Box box{static_cast<float>(1.0 / 3), static_cast<float>(2.0 / 4), 1, static_cast<float>(5.0 / 4)};
  EXPECT_THAT(four_by_five().crop(box, {3, 4}), ElementsAre(14, 51, 88, 0, 210, 247, 28, 0, 150, 187, 224, 0));
}

// How many of the columns of the first row are black, from the right.
int black_columns(std::int64_t image_width, const Box& box, std::int64_t crop_width) {
  const Picture picture(1, image_width, std::vector<int>(static_cast<std::size_t>(image_width), 7));
  const Values row = picture.crop(box, {1, crop_width});
  int count = 0;
  for (auto value = row.rbegin(); value != row.rend() && *value == 0; ++value) ++count;
  return count;
}

TEST(CropAndResize, RoundingBlackensTheLastColumnAtSomeSizes) {  // V-14
  EXPECT_EQ(black_columns(500, kWhole, 224), 1);
  EXPECT_EQ(black_columns(500, kWhole, 256), 0);
}

int sizes_with_black_column(std::int64_t crop_width) {
  int sizes = 0;
  for (std::int64_t width = 2; width <= 4096; ++width) sizes += black_columns(width, kWhole, crop_width) > 0 ? 1 : 0;
  return sizes;
}

TEST(CropAndResize, RoundingBlackensAsManySizesAsInTensorFlow) {
  EXPECT_EQ(sizes_with_black_column(256), 0);
  EXPECT_EQ(sizes_with_black_column(224), 218);
  EXPECT_EQ(sizes_with_black_column(299), 232);
  EXPECT_EQ(sizes_with_black_column(128), 16);
  EXPECT_EQ(sizes_with_black_column(64), 15);
}

Box voc_box(double xmin, double xmax, double width) {
  return {0, static_cast<float>(xmin / (width - 1)), 1, static_cast<float>(xmax / (width - 1))};
}

TEST(CropAndResize, BoxesAtTheBorderBlackenAsManyColumnsAsInTensorFlow) {
  EXPECT_EQ(black_columns(500, voc_box(1, 500, 500), 256), 1);
  EXPECT_EQ(black_columns(500, voc_box(250, 500, 500), 256), 2);
  EXPECT_EQ(black_columns(500, voc_box(400, 500, 500), 256), 3);
  EXPECT_EQ(black_columns(500, voc_box(0, 499, 500), 256), 0);
  int black = 0;
  for (int xmin = 0; xmin < 499; ++xmin) black += black_columns(500, voc_box(xmin, 499, 500), 256) > 0 ? 1 : 0;
  EXPECT_EQ(black, 18);
}

TEST(CropAndResize, BoxWithoutAreaRepeatsOnePoint) {
  EXPECT_THAT(three_by_three().crop({0.5F, 0.25F, 0.5F, 0.25F}, {2, 2}), Each(4.5F));
}

TEST(CropAndResize, BoxFarOutsideIsAllExtrapolated) {
  const CropOptions options{.extrapolation = 9};
  EXPECT_THAT(three_by_three().crop({2, 2, 3, 3}, {2, 2}, options), Each(9));
  EXPECT_THAT(three_by_three().crop({0, -3, 1, -2}, {2, 2}, options), Each(9));
  constexpr float most = std::numeric_limits<float>::max();
  EXPECT_THAT(three_by_three().crop({-most, -most, most, most}, {2, 2}, options), Each(9));
}

TEST(CropAndResize, ImageOfOneRowOrColumnIsNeverLeft) {
  constexpr float most = std::numeric_limits<float>::max();
  const Picture one_row(1, 3, {1, 2, 3});
  EXPECT_THAT(one_row.crop({-5, 0, 7, 1}, {2, 3}), ElementsAre(1, 2, 3, 1, 2, 3));
  const Picture one_pixel(1, 1, {5});
  EXPECT_THAT(one_pixel.crop({-most, -most, most, most}, {2, 2}), Each(5));
}

TEST(CropAndResize, CornersThatAreNotFiniteAreRefused) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinite = std::numeric_limits<float>::infinity();
  for (const float bad : {nan, infinite, -infinite})
    for (const Box& box : {Box{bad, 0, 1, 1}, Box{0, bad, 1, 1}, Box{0, 0, bad, 1}, Box{0, 0, 1, bad}})
      EXPECT_ERROR(two_by_two().crop(box, {2, 2}), ErrorCode::invalid_argument, "not finite");
}

TEST(CropAndResize, SizesThatAreNotPositiveAreRefused) {
  const Picture picture = two_by_two();
  std::vector<float> out(12);
  for (const Size& size : {Size{0, 2}, Size{2, 0}, Size{-1, 2}, Size{1 << 20, 1 << 20}})
    EXPECT_ERROR(crop_and_resize(view_of(picture.tensor), kWhole, size, out), ErrorCode::invalid_argument,
                 "size must be positive");
}

TEST(CropAndResize, MemoryOfAnotherSizeIsRefused) {
  const Picture picture = two_by_two();
  std::vector<float> out(11);
  EXPECT_ERROR(crop_and_resize(view_of(picture.tensor), kWhole, {2, 2}, out), ErrorCode::invalid_argument,
               "needs 12 values, but the span has 11");
}

TEST(CropAndResize, ColoursAreKeptApart) {
  Tensor image(DType::u8, {1, 2, 3});
  std::ranges::copy(std::vector<std::uint8_t>{0, 10, 20, 100, 110, 220}, image.values<std::uint8_t>().begin());
  std::vector<float> out(9);
  crop_and_resize(view_of(image), kWhole, {1, 3}, out);
  EXPECT_THAT(out, ElementsAre(0, 10, 20, 50, 60, 120, 100, 110, 220));
}

TEST(CropAndResize, WindowOfAnImageIsAnImage) {
  const Picture picture = three_by_three();
  std::vector<float> out(12);
  const ImageView part = view_of(picture.tensor).window({.y = 1, .x = 1, .height = 2, .width = 2});
  crop_and_resize(part, kWhole, {2, 2}, out);
  EXPECT_EQ((Values{out[0], out[3], out[6], out[9]}), (Values{5, 6, 8, 9}));
}

}  // namespace
}  // namespace penstock::image
