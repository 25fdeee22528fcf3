// What the golden cases do not show: the geometry, the random crops, wrong arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/image/resize.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock::image {
namespace {

using ::testing::Each;
using ::testing::ElementsAreArray;

Tensor noise(std::int64_t height, std::int64_t width) {
  Tensor image(DType::u8, {height, width, 3});
  std::minstd_rand random(static_cast<unsigned>(height * 1000 + width));
  for (std::uint8_t& value : image.values<std::uint8_t>()) value = static_cast<std::uint8_t>(random() >> 7);
  return image;
}

TEST(ResizeBilinear, SameSizeIsACopy) {
  const Tensor image = noise(13, 9);
  EXPECT_EQ(resize_bilinear(view_of(image), {13, 9}), image);
}

TEST(ResizeBilinear, ConstantStaysConstantAtAnySize) {
  Tensor image(DType::u8, {31, 17, 3});
  std::ranges::fill(image.values<std::uint8_t>(), std::uint8_t{201});
  for (const Size& size : {Size{1, 1}, Size{7, 40}, Size{100, 3}, Size{31, 18}}) {
    const Tensor out = resize_bilinear(view_of(image), size);
    EXPECT_THAT(out.values<std::uint8_t>(), Each(201));
  }
}

TEST(ResizeBilinear, OnePixelIsNearlyTheMeanWeightedToTheMiddle) {
  Tensor image(DType::u8, {2, 2, 3});
  std::ranges::copy(std::vector<std::uint8_t>{0, 0, 0, 10, 10, 10, 20, 20, 20, 30, 30, 30},
                    image.values<std::uint8_t>().begin());
  EXPECT_THAT(resize_bilinear(view_of(image), {1, 1}).values<std::uint8_t>(), Each(15));
}

TEST(ResizeBilinear, PixelsOutsideAWindowDoNotShow) {
  Tensor image(DType::u8, {20, 20, 3});
  std::ranges::fill(image.values<std::uint8_t>(), std::uint8_t{255});
  const Window dark{.y = 5, .x = 6, .height = 9, .width = 8};
  for (std::int64_t y = dark.y; y < dark.y + dark.height; ++y)
    std::fill_n(image.values<std::uint8_t>().begin() + (y * 20 + dark.x) * 3, dark.width * 3, std::uint8_t{3});
  EXPECT_THAT(resize_bilinear(view_of(image).window(dark), {4, 4}).values<std::uint8_t>(), Each(3));
  const Region region{6, 5, 14, 14};
  EXPECT_THAT(resize_bilinear(view_of(image), region, {4, 4}).values<std::uint8_t>(),
              ::testing::Contains(::testing::Gt(3)));
}

TEST(ResizeBilinear, CropOfTheResizedPictureEqualsTheWholeOne) {
  for (const Size& size : {Size{300, 40}, Size{40, 300}, Size{61, 64}}) {
    const Tensor image = noise(size.height, size.width);
    const Size full = shorter_side_size(size, 32);
    const Tensor resized = resize_bilinear(view_of(image), full);
    const Window window = centre_window(full, {24, 20});
    EXPECT_EQ(resize_and_centre_crop(view_of(image), 32, {24, 20}), copy_of(view_of(resized).window(window)));
  }
}

// In one direction a resize has one pass. Pillow begins with the columns where that leaves out more than twice as much.
TEST(ResizeBilinear, BeginsWithTheRowsWhereTheColumnsSaveJustTwiceAsMuch) {
  const Tensor image = noise(60, 40);
  const auto twice = [&](const Size& first, const Size& last) {
    return resize(view_of(resize(view_of(image), first)), last);
  };
  const auto rows_first = [&](const Size& size) { return twice({60, size.width}, size); };
  const auto columns_first = [&](const Size& size) { return twice({size.height, 40}, size); };
  const Size tie{40, 30}, beyond{39, 30};
  ASSERT_NE(rows_first(tie), columns_first(tie));
  ASSERT_NE(rows_first(beyond), columns_first(beyond));
  EXPECT_EQ(resize(view_of(image), tie), rows_first(tie));
  EXPECT_EQ(resize(view_of(image), beyond), columns_first(beyond));
}

TEST(ResizeBilinear, OnePixelWideImagesCanBeResized) {
  const Tensor line = noise(50, 1);
  EXPECT_EQ(resize_bilinear(view_of(line), {50, 1}), line);
  EXPECT_EQ(resize_bilinear(view_of(line), {5, 3}).shape(), (Shape{5, 3, 3}));
  EXPECT_EQ(resize_bilinear(view_of(noise(1, 1)), {4, 4}).shape(), (Shape{4, 4, 3}));
}

TEST(ResizeBilinear, WrongArgumentsAreRefused) {
  const Tensor image = noise(4, 4);
  const ImageView view = view_of(image);
  std::vector<std::uint8_t> out(11);
  const auto invalid = ErrorCode::invalid_argument;
  EXPECT_ERROR(resize_bilinear(view, {0, 3}), invalid, "size must be positive");
  EXPECT_ERROR(resize_bilinear(view, {2, 2}, out), invalid, "needs 12 values");
  EXPECT_ERROR(resize_bilinear(view, Region{0, 0, 4, 4.5F}, {2, 2}), invalid, "leaves the image");
  EXPECT_ERROR(resize_bilinear(view, Region{2, 0, 2, 4}, {2, 2}), invalid, "is empty");
  EXPECT_ERROR(resize_bilinear(view, Region{std::nanf(""), 0, 4, 4}, {2, 2}), invalid, "is empty");
  EXPECT_ERROR(resize_and_centre_crop(view, 8, {9, 8}), invalid, "larger than the image");
}

TEST(ShorterSideSize, LongerSideIsTruncated) {
  EXPECT_EQ(shorter_side_size({375, 500}, 256), (Size{256, 341}));
  EXPECT_EQ(shorter_side_size({500, 333}, 256), (Size{384, 256}));
  EXPECT_EQ(shorter_side_size({100, 100}, 256), (Size{256, 256}));
}

TEST(ShorterSideSize, RefusesALongerSideBeyondAllImages) {
  EXPECT_ERROR(shorter_side_size({65'535, 1}, 100'000'000), ErrorCode::invalid_argument, "shorter_side_size");
}

TEST(CentreWindow, HalvesAreRoundedToEven) {
  EXPECT_EQ(centre_window({256, 341}, {224, 224}), (Window{16, 58, 224, 224}));  // 58.5
  EXPECT_EQ(centre_window({227, 225}, {224, 224}), (Window{2, 0, 224, 224}));    // 1.5, 0.5
  EXPECT_EQ(centre_window({224, 224}, {224, 224}), (Window{0, 0, 224, 224}));
}

TEST(ImageView, WindowsOutsideTheImageAreRefused) {
  const Tensor image = noise(4, 6);
  const std::int64_t huge = std::int64_t{1} << 62;
  for (const Window& window : {Window{0, 0, 5, 1}, Window{1, 0, 4, 1}, Window{-1, 0, 2, 2}, Window{0, 5, 1, 2},
                               Window{0, 0, 0, 2}, Window{huge, 0, huge, 1}})
    EXPECT_ERROR(view_of(image).window(window), ErrorCode::invalid_argument, "does not lie");
}

TEST(Hflip, MirrorsAPartOfAnImage) {
  const Tensor image = noise(3, 5);
  const ImageView part = view_of(image).window({.y = 1, .x = 1, .height = 2, .width = 3});
  const Tensor flipped = hflip(part);
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 3; ++x)
      for (int c = 0; c < 3; ++c) EXPECT_EQ(view_of(flipped).row(y)[3 * x + c], part.row(y)[3 * (2 - x) + c]);
}

TEST(RandomCrop, FirstWindowThatFitsIsTaken) {
  // Area 1 in ratio 3:4 does not fit a square; area .08 + .92 / 4 in ratio 1 has a side of
  // sqrt(3100) = 55.7.
  const std::vector<double> draws{0.999, 0.0, 0.25, 0.5, 0.0, 0.999};
  std::size_t next = 0;
  const Window window = random_crop({100, 100}, [&] { return draws.at(next++); });
  EXPECT_EQ(window, (Window{0, 44, 56, 56}));
  EXPECT_EQ(next, 6U);
}

TEST(RandomCrop, TriesAsOftenAsItIsToldTo) {
  for (const int tries : {1, 3}) {
    int draws = 0;
    const auto too_wide = [&draws] { return draws++ % 2 == 0 ? 0.999 : 0.0; };
    EXPECT_EQ(random_crop({100, 100}, too_wide, {.tries = tries}), (Window{0, 0, 100, 100}));
    EXPECT_EQ(draws, 2 * tries) << "an area and a ratio each time";
  }
}

// 1,600 pixels, twice as wide as high: sqrt(800) = 28.3 by sqrt(3200) = 56.6.
TEST(RandomCrop, RatioIsWidthByHeight) {
  const RandomCropOptions options{.min_area = 0.08, .max_area = 0.08, .min_ratio = 2, .max_ratio = 2};
  EXPECT_EQ(random_crop(
                {100, 200}, [] { return 0.0; }, options),
            (Window{0, 0, 28, 57}));
}

// 10,000 pixels, square; the largest central window would lie in the middle.
TEST(RandomCrop, MayBeAsHighOrAsWideAsThePicture) {
  const RandomCropOptions options{.min_area = 0.5, .max_area = 0.5, .min_ratio = 1, .max_ratio = 1};
  const auto none = [] { return 0.0; };
  EXPECT_EQ(random_crop({100, 200}, none, options), (Window{0, 0, 100, 100}));
  EXPECT_EQ(random_crop({200, 100}, none, options), (Window{0, 0, 100, 100}));
}

TEST(RandomCrop, WindowsFollowTheDistribution) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  constexpr int count = 20000;
  double area = 0, log_ratio = 0, x = 0;
  for (int i = 0; i < count; ++i) {
    const Window w = random_crop({1000, 1000}, [&] { return uniform(random); });
    ASSERT_TRUE(w.y >= 0 && w.x >= 0 && w.y + w.height <= 1000 && w.x + w.width <= 1000);
    const double ratio = static_cast<double>(w.width) / static_cast<double>(w.height);
    ASSERT_TRUE(ratio > 0.74 && ratio < 1.35);
    area += static_cast<double>(w.height * w.width) / 1e6;
    log_ratio += std::log(ratio);
    x += static_cast<double>(w.x) / std::max(1.0, 1000.0 - static_cast<double>(w.width));
  }
  EXPECT_NEAR(area / count, 0.48,
              0.02);  // a little under 0.54: wide and tall windows above 0.75 do not fit
  EXPECT_NEAR(log_ratio / count, 0, 0.01);
  EXPECT_NEAR(x / count, 0.5, 0.01);
}

TEST(RandomCrop, StripsGetTheLargestCentralWindow) {
  const auto half = [] { return 0.5; };
  EXPECT_EQ(random_crop({1000, 10}, half), (Window{493, 0, 13, 10}));
  EXPECT_EQ(random_crop({10, 1000}, half), (Window{0, 493, 10, 13}));
  EXPECT_EQ(random_crop({1, 1}, half), (Window{0, 0, 1, 1}));
}

TEST(RandomCrop, DrawsOfOneStayInside) {
  const Window window = random_crop({100, 100}, [] { return 1.0; }, {.max_area = 0.5});
  EXPECT_EQ(window.y + window.height, 100);
  EXPECT_EQ(window.x + window.width, 100);
}

TEST(RandomCrop, WrongOptionsAreRefused) {
  const auto half = [] { return 0.5; };
  const auto invalid = ErrorCode::invalid_argument;
  EXPECT_ERROR(random_crop({0, 5}, half), invalid, "empty");
  EXPECT_ERROR(random_crop({5, 5}, half, {.min_area = 0}), invalid, "min_area");
  EXPECT_ERROR(random_crop({5, 5}, half, {.min_ratio = 2, .max_ratio = 1}), invalid, "min_ratio");
  EXPECT_ERROR(random_crop({5, 5}, half, {.max_area = HUGE_VAL}), invalid, "max_area");
}

}  // namespace
}  // namespace penstock::image
