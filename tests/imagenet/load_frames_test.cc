// load_train and load_eval.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/image/resize.h>
#include <penstock/imagenet.h>
#include <penstock/io.h>
#include <penstock/sources.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tests/support/examples.h"
#include "tests/support/expect_error.h"
#include "tests/support/pictures/sample_set.h"

namespace penstock::imagenet {
namespace {

using pictures::SampleSet;

Config bytes_config(const SampleSet& set) {
  return {.labels = labels_of(set.paths()), .size = {16, 16}, .dtype = DType::u8, .shorter_side = 20};
}

Dataset<Example> train_of(const SampleSet& set, const Config& config) {
  return from_vector(set.paths()).apply(load_train(config));
}

Dataset<Example> eval_of(const SampleSet& set, const Config& config) {
  return from_vector(set.paths()).apply(load_eval(config));
}

Tensor picture(const SampleSet& set, const Example& example) {
  return image::decode_jpeg(image::bytes_of(read_file(set.paths()[static_cast<std::size_t>(example.file)])));
}

bool is_mirrored(const Example& example) { return example.box[1] > example.box[3]; }

// The window that example.box tells.
image::Window window_of(const Example& example, const image::ImageView& view) {
  const auto [low, high] = std::minmax(example.box[1], example.box[3]);
  const auto pixels = [](float share, std::int64_t extent) {
    return std::llround(static_cast<double>(share) * static_cast<double>(extent));
  };
  const std::int64_t y = pixels(example.box[0], view.height), x = pixels(low, view.width);
  return {y, x, pixels(example.box[2], view.height) - y, pixels(high, view.width) - x};
}

TEST(LoadTrain, ShowsTheWindowThatItsBoxTells) {
  const SampleSet set(30);
  const auto examples = test::collect(train_of(set, bytes_config(set)));
  ASSERT_EQ(examples.size(), 30U);
  for (const Example& example : examples) {
    const Tensor whole = picture(set, example);
    const image::ImageView view = image::view_of(whole);
    Tensor expected = image::resize_bilinear(view.window(window_of(example, view)), {16, 16});
    if (is_mirrored(example)) expected = image::hflip(image::view_of(expected));
    EXPECT_EQ(example.image, expected) << "file " << example.file;
  }
}

TEST(LoadTrain, MirrorsSomePicturesAndNotOthers) {
  const SampleSet set(40);
  const auto examples = test::collect(train_of(set, bytes_config(set)));
  const auto mirrored = std::count_if(examples.begin(), examples.end(), is_mirrored);
  EXPECT_GT(mirrored, 5);
  EXPECT_LT(mirrored, 35);
}

TEST(LoadTrain, CutsTheSameForAnyNumberOfThreads) {
  const SampleSet set(12);
  const auto train = train_of(set, bytes_config(set));
  const auto serial = test::collect(train, {.serial = true});
  test::expect_equal(test::collect(train, {.threads = 1}), serial);
  test::expect_equal(test::collect(train, {.threads = 8}), serial);
}

TEST(LoadTrain, CutsAnewInEachEpochAndForEachSeed) {
  const SampleSet set(4);
  const auto train = train_of(set, bytes_config(set));
  const auto first = test::collect(train)[0].box;
  EXPECT_EQ(test::collect(train)[0].box, first);
  EXPECT_NE(test::collect(train, {.first_epoch = 1})[0].box, first);
  EXPECT_NE(test::collect(train, {.seed = 1})[0].box, first);
}

TEST(LoadTrain, FloatsAreTheBytesNormalised) {
  const SampleSet set(6);
  Config config = bytes_config(set);
  const auto bytes = test::collect(train_of(set, config));
  config.dtype = DType::f32;
  const auto floats = test::collect(train_of(set, config));
  ASSERT_EQ(floats.size(), bytes.size());
  const float mean[] = {0.485F, 0.456F, 0.406F}, deviation[] = {0.229F, 0.224F, 0.225F};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (std::size_t v = 0; v < 16 * 16 * 3; ++v)
      ASSERT_NEAR(
          floats[i].image.values<float>()[v],
          (static_cast<float>(bytes[i].image.values<std::uint8_t>()[v]) / 255.0F - mean[v % 3]) / deviation[v % 3],
          1e-5F);
}

TEST(LoadTrain, PlanesHoldTheSameValues) {
  const SampleSet set(6);
  Config config = bytes_config(set);
  for (const DType type : {DType::u8, DType::f32, DType::bf16}) {
    config.dtype = type;
    config.layout = image::Layout::nhwc;
    const auto pixels = test::collect(train_of(set, config));
    config.layout = image::Layout::nchw;
    const auto planes = test::collect(train_of(set, config));
    ASSERT_EQ(planes.size(), 6U);
    for (std::size_t i = 0; i < pixels.size(); ++i) EXPECT_EQ(planes[i].image, test::planes_of(pixels[i].image));
  }
}

TEST(LoadEval, ShowsTheCentreOfThePictureMadeSmaller) {
  const SampleSet set(10);
  const auto examples = test::collect(eval_of(set, bytes_config(set)));
  ASSERT_EQ(examples.size(), 10U);
  for (const Example& example : examples) {
    const Tensor whole = picture(set, example);
    EXPECT_EQ(example.image, image::resize_and_centre_crop(image::view_of(whole), 20, {16, 16}));
  }
}

TEST(LoadEval, DefaultSizeIs224) {
  const SampleSet set(1);
  const auto examples = test::collect(eval_of(set, {.labels = labels_of(set.paths())}));
  ASSERT_EQ(examples.size(), 1U);
  EXPECT_EQ(examples[0].image.shape(), (Shape{224, 224, 3}));
}

TEST(LoadEval, RefusesACropLargerThanTheShorterSide) {
  const SampleSet set(1);
  Config config = bytes_config(set);
  config.shorter_side = 15;
  EXPECT_ERROR(eval_of(set, config), ErrorCode::invalid_argument, "shorter_side must be at least");
  config.size = {8, 16};
  EXPECT_ERROR(eval_of(set, config), ErrorCode::invalid_argument, "at least the size of the crop, 16, but is 15");
}

TEST(LoadEval, RefusesAShorterSideThatNoPictureCanHave) {
  const SampleSet set(1);
  Config config = bytes_config(set);
  config.shorter_side = std::int64_t{1} << 40;
  EXPECT_ERROR(eval_of(set, config), ErrorCode::invalid_argument, "shorter_side must be below");
}

TEST(LoadEval, TakesTheLabelFromTheFirstObjectWhereThePathHasNone) {
  const SampleSet set(2);
  const std::string flat = (set.folder() / "flat" / "raccoon-1.jpg").string();
  std::filesystem::create_directories(set.folder() / "flat");
  std::filesystem::copy(set.paths()[1], flat);
  const std::string annotations = (set.folder() / "flat").string();
  std::filesystem::copy(set.annotation_of(set.paths()[1]), set.folder() / "flat" / "raccoon-1.xml");
  const std::vector<std::string> paths{flat};
  Config config = bytes_config(set);
  config.annotations = annotations;
  config.labels = labels_of(paths, annotations);
  ASSERT_EQ(config.labels.size(), 1);
  EXPECT_EQ(config.labels.name(0), "thing0");
  const auto examples = test::collect(from_vector(paths).apply(load_eval(config)));
  ASSERT_EQ(examples.size(), 1U);
  EXPECT_EQ(examples[0].label, 0);
}

}  // namespace
}  // namespace penstock::imagenet
