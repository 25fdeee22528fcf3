#include <unistd.h>

#include "tests/support/pictures/generate.h"

#include <gtest/gtest.h>
#include <penstock/image/jpeg.h>
#include <penstock/io.h>
#include <penstock/labels.h>
#include <penstock/voc.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/expect_error.h"
#include "tests/support/pictures/sample_picture.h"
#include "tests/support/sha256.h"

namespace penstock::pictures {
namespace {

class Generate : public ::testing::Test {
 protected:
  Generate() : folder_(testing::TempDir() + "penstock_generate_test" + std::to_string(::getpid())) {}
  ~Generate() override { std::filesystem::remove_all(folder_); }

  // Hash by name, relative to the folder.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
      if (entry.is_regular_file())
        result[std::filesystem::relative(entry.path(), folder_).string()] =
            test::sha256(image::bytes_of(read_file(entry.path().string())));
    return result;
  }

  std::vector<std::string> pictures() const {
    std::vector<std::string> result;
    for (const auto& [name, hash] : files())
      if (name.ends_with(".JPEG")) result.push_back(folder_ + "/" + name);
    return result;
  }

  std::string folder_;
};

TEST_F(Generate, EveryPictureHasAnAnnotationThatFits) {
  const GenerateReport report = generate_imagenet({.folder = folder_, .images = 10, .classes = 3});
  EXPECT_EQ(report.images, 10);
  EXPECT_EQ(files().size(), 20U);
  for (const std::string& path : pictures()) {
    EXPECT_NE(label_in_path(path), "") << path;
    const image::JpegHeader header = image::read_jpeg_header(image::bytes_of(read_file(path)));
    const VocAnnotation annotation = parse_voc(read_annotation(path)->xml);
    EXPECT_EQ(annotation.width, header.width);
    EXPECT_EQ(annotation.height, header.height);
    const std::size_t boxes = normalised_boxes(annotation, {.policy = BoxPolicy::strict}).size();
    EXPECT_TRUE(boxes >= 1 && boxes <= 3);
    EXPECT_EQ(annotation.objects[0].name, label_in_path(path));
  }
}

TEST_F(Generate, ThreadsChangeNothing) {
  generate_imagenet({.folder = folder_, .images = 8, .threads = 1});
  const auto first = files();
  std::filesystem::remove_all(folder_);
  generate_imagenet({.folder = folder_, .images = 8, .threads = 3});
  EXPECT_EQ(files(), first);
  generate_imagenet({.folder = folder_, .images = 8, .seed = 2});
  EXPECT_NE(files(), first);
}

TEST_F(Generate, PicturesDecodeWithoutWarningAtImageNetsRate) {
  const GenerateReport report = generate_imagenet({.folder = folder_, .images = 40});
  for (const std::string& path : pictures()) {
    image::DecodeReport decoded;
    image::decode_jpeg(image::bytes_of(read_file(path)), image::DecodeOptions{.name = path}, &decoded);
    EXPECT_EQ(decoded.warnings, 0) << path;
  }
  const double rate = 8 * static_cast<double>(report.bytes) / static_cast<double>(report.pixels);
  EXPECT_NEAR(rate, 4.35, 1.0);
}

TEST_F(Generate, FolderThatCannotBeMadeIsAnError) {
  EXPECT_ERROR(generate_imagenet({.folder = "/dev/null/x", .images = 1}), ErrorCode::unavailable, "/dev/null/x");
}

// Shares counted in 1000 ImageNet files, one of each class.
TEST(DrawPicture, SizesAndSamplingFollowImageNet) {
  Random random(1);
  constexpr int count = 20000;
  int usual = 0, full = 0, quarter = 0, grey = 0;
  double pixels = 0, rate = 0;
  for (int i = 0; i < count; ++i) {
    const PictureSpec spec = draw_picture(random);
    usual += spec.width == 500 && spec.height == 375 ? 1 : 0;
    full += spec.encoding.luma_h == 1 && spec.encoding.colour != JpegColour::grey ? 1 : 0;
    quarter += spec.encoding.luma_v == 2 ? 1 : 0;
    grey += spec.encoding.colour == JpegColour::grey ? 1 : 0;
    pixels += static_cast<double>(spec.height * spec.width);
    rate += spec.bits_per_pixel * static_cast<double>(spec.height * spec.width);
  }
  EXPECT_NEAR(usual, 0.21 * count, 0.02 * count);
  EXPECT_NEAR(full, 0.761 * count, 0.02 * count);
  EXPECT_NEAR(quarter, 0.203 * count, 0.02 * count);
  EXPECT_NEAR(grey, 0.023 * count, 0.005 * count);
  EXPECT_NEAR(pixels / count, 202e3, 10e3);
  EXPECT_NEAR(rate / pixels, 4.35, 0.2);
}

}  // namespace
}  // namespace penstock::pictures
