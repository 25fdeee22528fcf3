// Functions that take a part of an image against the same with the whole. Parts lie in memory of their own, so that
// AddressSanitizer sees whoever reads beside them.
#include <gtest/gtest.h>
#include <penstock/image/crop_and_resize.h>
#include <penstock/image/resize.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock::image {
namespace {

using Random = std::minstd_rand;

std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

Tensor noise(Size size) {
  Tensor image(DType::u8, {size.height, size.width, channels});
  Random random(1);
  for (std::uint8_t& value : image.values<std::uint8_t>()) value = static_cast<std::uint8_t>(random() >> 7);
  return image;
}

struct Part {
  Part(const Tensor& image, const Window& window)
      : pixels(copy_of(view_of(image).window(window))),
        part{view_of(pixels), window, {image.shape()[0], image.shape()[1]}} {}

  Tensor pixels;
  ImagePart part;
};

Size random_size(Random& random, std::int64_t most) { return {between(random, 1, most), between(random, 1, most)}; }

// Corners around the image: inside, at its edges, far outside; mirrored ones too.
Box random_box(Random& random) {
  const auto corner = [&random] {
    if (between(random, 0, 3) == 0) return static_cast<float>(between(random, -1, 2));
    return std::uniform_real_distribution<float>(-0.5F, 1.5F)(random);
  };
  return {corner(), corner(), corner(), corner()};
}

TEST(CropAndResizeOfAPart, EqualsThatOfTheImage) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const Tensor image = noise(random_size(random, 40));
    const ImageView view = view_of(image);
    const std::vector<Box> boxes{random_box(random), random_box(random)};
    const Size size = random_size(random, 30);
    const CropOptions options{i % 2 == 0 ? Interpolation::bilinear : Interpolation::nearest, 7};
    const Part part(image, source_window({view.height, view.width}, boxes, size, options));
    for (const Box& box : boxes) {
      std::vector<float> got(size.values()), expected(size.values());
      crop_and_resize(part.part, box, size, got, options);
      crop_and_resize(view, box, size, expected, options);
      ASSERT_EQ(got, expected) << i;
    }
  }
}

// By the values: those that stand in the result, without interpolation, name the pixels that were read.
TEST(SourceWindow, HoldsThePixelsThatAreReadAndNoOthers) {
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    const Size whole = random_size(random, 15), size = random_size(random, 12);
    Tensor image(DType::u8, {whole.height, whole.width, channels});
    for (std::int64_t y = 0; y < whole.height; ++y)
      for (std::int64_t x = 0; x < whole.width; ++x) {
        std::uint8_t* pixel = image.values<std::uint8_t>().data() + (y * whole.width + x) * channels;
        pixel[0] = static_cast<std::uint8_t>(y);
        pixel[1] = static_cast<std::uint8_t>(x);
        pixel[2] = 0;
      }
    const Box box = random_box(random);
    const CropOptions nearest{Interpolation::nearest, -1};
    std::vector<float> values(size.values());
    crop_and_resize(view_of(image), box, size, values, nearest);
    float bottom = -1, right = -1, top = 1e9F, left = 1e9F;
    for (std::size_t v = 0; v < values.size(); v += 3) {
      if (values[v] < 0) continue;
      top = std::min(top, values[v]), bottom = std::max(bottom, values[v]);
      left = std::min(left, values[v + 1]), right = std::max(right, values[v + 1]);
    }
    const Window window = source_window(whole, std::vector{box}, size, nearest);
    const auto pixels = [](float first, float last) { return static_cast<std::int64_t>(last - first) + 1; };
    Window expected{0, 0, 1, 1};
    if (bottom >= 0)
      expected = {static_cast<std::int64_t>(top), static_cast<std::int64_t>(left), pixels(top, bottom),
                  pixels(left, right)};
    ASSERT_EQ(window, expected) << i;
  }
}

TEST(SourceWindow, IsOnePixelWhereNothingIsRead) {
  constexpr Window one{0, 0, 1, 1};
  EXPECT_EQ(source_window({9, 9}, {}, {4, 4}), one);
  EXPECT_EQ(source_window({9, 9}, std::vector{Box{2, 2, 3, 3}, Box{0, -3, 1, -2}}, {4, 4}), one);
}

TEST(SourceWindow, WrongArgumentsAreRefused) {
  const std::vector<Box> boxes(1);
  EXPECT_ERROR(source_window({0, 5}, boxes, {4, 4}), ErrorCode::invalid_argument, "empty");
  EXPECT_ERROR(source_window({5, 5}, boxes, {0, 4}), ErrorCode::invalid_argument, "output size");
  EXPECT_ERROR(source_window({5, 5}, std::vector{Box{0, 0, HUGE_VALF, 1}}, {4, 4}), ErrorCode::invalid_argument,
               "not finite");
}

TEST(CropAndResizeOfAPart, LackOfAPixelIsRefused) {
  const Tensor image = noise({20, 30});
  const Box box{0.2F, 0.2F, 0.8F, 0.8F};
  const Window needed = source_window({20, 30}, std::vector{box}, {8, 8});
  std::vector<float> out(Size{8, 8}.values());
  for (const Window& less : {Window{needed.y + 1, needed.x, needed.height - 1, needed.width},
                             Window{needed.y, needed.x + 1, needed.height, needed.width - 1},
                             Window{needed.y, needed.x, needed.height - 1, needed.width},
                             Window{needed.y, needed.x, needed.height, needed.width - 1}})
    EXPECT_ERROR(crop_and_resize(Part(image, less).part, box, {8, 8}, out), ErrorCode::invalid_argument,
                 "crop_and_resize: needs ");
}

TEST(CentreCropOfAPart, EqualsThatOfTheImage) {
  Random random(3);
  for (int i = 0; i < 500; ++i) {
    const Tensor image = noise(random_size(random, 70));
    const ImageView view = view_of(image);
    const std::int64_t shorter = between(random, 1, 50);
    const Size crop{between(random, 1, shorter), between(random, 1, shorter)};
    const Part part(image, centre_crop_source({view.height, view.width}, shorter, crop));
    std::vector<std::uint8_t> got(crop.values());
    resize_and_centre_crop(part.part, shorter, crop, got);
    const Tensor expected = resize_and_centre_crop(view, shorter, crop);
    ASSERT_TRUE(std::ranges::equal(got, expected.values<std::uint8_t>())) << i;
  }
}

TEST(CentreCropOfAPart, LackOfAPixelIsRefused) {
  const Tensor image = noise({40, 60});
  Window needed = centre_crop_source({40, 60}, 20, {16, 16});
  std::vector<std::uint8_t> out(Size{16, 16}.values());
  --needed.width;
  EXPECT_ERROR(resize_and_centre_crop(Part(image, needed).part, 20, {16, 16}, out), ErrorCode::invalid_argument,
               "needs ");
}

TEST(CentreCropSource, HoldsWhatTheFilterReaches) {
  // At scale 1 the last tap is the next pixel, with weight 0, as in Pillow.
  EXPECT_EQ(centre_crop_source({100, 100}, 100, {50, 50}), (Window{25, 25, 51, 51}));
  EXPECT_EQ(centre_crop_source({100, 200}, 50, {50, 50}), (Window{0, 49, 100, 102}));
}

}  // namespace
}  // namespace penstock::image
