#include <penstock/image/boxes.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock::image {
namespace {

using ::testing::IsEmpty;

std::vector<MovedBox> moved(std::vector<PixelBox> boxes, Window crop, Size size, Mirror mirror = Mirror::no,
                            double least_visible = 0) {
  return transform_boxes(boxes, crop, size, mirror, least_visible);
}

TEST(TransformBoxes, LeavesBoxesOfTheWholePictureAlone) {
  const auto found = moved({{1, 2, 3, 4}, {0, 0, 10, 20}}, {0, 0, 10, 20}, {10, 20});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].box, (PixelBox{1, 2, 3, 4}));
  EXPECT_EQ(found[1].box, (PixelBox{0, 0, 10, 20}));
  EXPECT_EQ(found[1].index, 1u);
  EXPECT_FLOAT_EQ(found[1].visible, 1);
}

// Painted into a picture of pixels, which is cut, enlarged pixel by pixel and mirrored: the painted pixels lie where
// the box says.
std::optional<PixelBox> painted(const PixelBox& box, Window crop, std::int64_t times, Mirror mirror) {
  std::optional<PixelBox> found;
  for (std::int64_t y = 0; y < crop.height * times; ++y) {
    for (std::int64_t x = 0; x < crop.width * times; ++x) {
      const auto from_y = static_cast<float>(crop.y + y / times), from_x = static_cast<float>(crop.x + x / times);
      if (from_y < box.ymin || from_y >= box.ymax || from_x < box.xmin || from_x >= box.xmax) continue;
      const auto row = static_cast<float>(y),
                 column = static_cast<float>(mirror == Mirror::yes ? crop.width * times - 1 - x : x);
      if (!found) found = PixelBox{row, column, row + 1, column + 1};
      found = PixelBox{std::min(found->ymin, row), std::min(found->xmin, column), std::max(found->ymax, row + 1),
                       std::max(found->xmax, column + 1)};
    }
  }
  return found;
}

TEST(TransformBoxes, GoesWhereThePixelsGo) {
  std::mt19937 random(1);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(n));
  };
  for (int i = 0; i < 300; ++i) {
    const std::int64_t y = below(12), x = below(12), times = 1 + below(3);
    const PixelBox box = {static_cast<float>(y), static_cast<float>(x), static_cast<float>(y + 1 + below(6)),
                          static_cast<float>(x + 1 + below(6))};
    const Window crop = {below(8), below(8), 1 + below(10), 1 + below(10)};
    const Mirror mirror = below(2) == 0 ? Mirror::no : Mirror::yes;
    const auto found = moved({box}, crop, {crop.height * times, crop.width * times}, mirror);
    const auto expected = painted(box, crop, times, mirror);
    ASSERT_EQ(found.size(), expected ? 1u : 0u) << i;
    if (expected) {
      EXPECT_EQ(found[0].box, *expected) << i;
    }
  }
}

TEST(TransformBoxes, ScalesHeightAndWidthApart) {
  const auto found = moved({{10, 10, 20, 30}}, {0, 0, 100, 50}, {50, 200});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].box, (PixelBox{5, 40, 10, 120}));
}

TEST(TransformBoxes, LeavesOutWhatIsHardlySeen) {
  const std::vector<PixelBox> boxes{{0, 0, 10, 10}, {0, 8, 10, 12}, {0, 20, 10, 30}, {4, 4, 4, 8}, {6, 6, 4, 8}};
  const Window left_half = {0, 0, 10, 9};
  const auto all = moved(boxes, left_half, {10, 9});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_FLOAT_EQ(all[0].visible, 0.9F);
  EXPECT_FLOAT_EQ(all[1].visible, 0.25F);
  const auto most = moved(boxes, left_half, {10, 9}, Mirror::no, 0.3);
  ASSERT_EQ(most.size(), 1u);
  EXPECT_EQ(most[0].index, 0u);
}

TEST(TransformBoxes, KeepsABoxOfWhichJustEnoughIsSeen) {
  EXPECT_EQ(moved({{2, 2, 6, 6}}, {0, 0, 10, 10}, {10, 10}, Mirror::no, 1).size(), 1u) << "all of it";
  EXPECT_EQ(moved({{2, 2, 6, 6}}, {4, 0, 6, 10}, {6, 10}, Mirror::no, 0.5).size(), 1u) << "its lower half";
}

TEST(TransformBoxes, OfNoBoxesAreNone) { EXPECT_THAT(moved({}, {0, 0, 1, 1}, {1, 1}), IsEmpty()); }

TEST(TransformBoxes, RefusesWhatIsNoPicture) {
  const std::vector<PixelBox> one{{0, 0, 1, 1}};
  EXPECT_ERROR(moved(one, {0, 0, 0, 5}, {1, 1}), ErrorCode::invalid_argument,
               "the crop must have pixels, but is 0 x 5");
  EXPECT_ERROR(moved(one, {0, 0, 5, 5}, {7, -1}), ErrorCode::invalid_argument,
               "the size must be positive, but is 7 x -1");
  EXPECT_ERROR(moved(one, {0, 0, 5, 5}, {7, 7}, Mirror::no, 1.5), ErrorCode::invalid_argument, "least_visible");
  const std::vector<PixelBox> second{{0, 0, 1, 1}, {0, std::numeric_limits<float>::quiet_NaN(), 1, 1}};
  EXPECT_ERROR(moved(second, {0, 0, 5, 5}, {7, 7}), ErrorCode::invalid_argument,
               "box 1 has a corner that is not finite");
}

}  // namespace
}  // namespace penstock::image
