// Pictures decoded, cropped and resized by TensorFlow and Pillow (shared/golden/README.md),
// compared by hash.
#include <gtest/gtest.h>
#include <penstock/image.h>
#include <penstock/io.h>
#include <penstock/voc.h>

#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/environment.h"
#include "tests/support/sha256.h"
#include "tests/support/shared_data.h"

namespace penstock::image {
namespace {

using nlohmann::json;
using test::sha256_of;

Tensor shared_file(const std::string& name) { return read_file((test::shared_folder() / "data" / name).string()); }

// A golden file's picture; fails where the file is another one than the hash says.
Tensor shared_picture_file(const json& picture) {
  Tensor file = shared_file(picture["file"]);
  EXPECT_EQ(test::sha256(bytes_of(file)), picture["file_sha256"]) << picture["file"];
  return file;
}

Dct dct_of(const json& entry) { return entry["dct_method"] == "INTEGER_FAST" ? Dct::ifast : Dct::islow; }

std::string hash_of(const Tensor& values) { return test::sha256({values.data(), values.bytes()}); }

Box box_of(const json& crop) {
  const auto corner = [&](std::size_t i) { return std::bit_cast<float>(crop["box_bits"][i].get<std::uint32_t>()); };
  return {corner(0), corner(1), corner(2), corner(3)};
}

std::vector<std::uint16_t> halves_of(const Tensor& values) {
  std::vector<std::uint16_t> halves(static_cast<std::size_t>(values.size()));
  convert_to_f16(values.values<float>(), halves);
  return halves;
}

void check_decode(const json& picture, const Tensor& file) {
  for (const json& decode : picture["decode"]) {
    const Tensor image =
        decode_jpeg(bytes_of(file), {.dct = dct_of(decode), .fancy_upsampling = decode["fancy_upscaling"]});
    EXPECT_EQ(hash_of(image), decode["rgb_sha256"]) << picture["file"] << " " << decode["dct_method"];
  }
}

template <class Value> std::string hash_of_crop(const json& crop, const Tensor& image, DType type, Simd simd) {
  const Size size{crop["crop"][0], crop["crop"][1]};
  std::vector<Value> values(size.values());
  const Output out{.memory = std::as_writable_bytes(std::span(values)), .type = type, .simd = simd};
  crop_and_resize(part_of(view_of(image)), box_of(crop), size, out);
  return sha256_of(std::span<const Value>(values));
}

void check_crop(const json& crop, const Tensor& image, Simd simd, const std::string& name) {
  EXPECT_EQ(hash_of_crop<float>(crop, image, DType::f32, simd), crop["f32_sha256"]) << name;
  EXPECT_EQ(hash_of_crop<std::uint16_t>(crop, image, DType::f16, simd), crop["f16_sha256"]) << name;
}

void check_halves(const json& crop, const Tensor& image, const std::string& name) {
  const Box box = box_of(crop);
  const std::vector<std::uint16_t> halves =
      halves_of(crop_and_resize(view_of(image), std::span(&box, 1), {crop["crop"][0], crop["crop"][1]}));
  std::vector<float> back(halves.size());
  for (std::size_t i = 0; i < halves.size(); ++i) back[i] = from_f16(halves[i]);
  EXPECT_EQ(sha256_of(std::span<const float>(back)), crop["f32_of_f16_sha256"]) << name;
}

// The boxes that the XML gives equal the golden file's in every bit.
void check_boxes(const json& picture, const VocAnnotation& annotation) {
  const std::vector<Box> boxes = normalised_boxes(annotation, {.policy = BoxPolicy::tf});
  for (const json& crop : picture["crops"]) {
    if (crop["pixels"].is_null()) continue;
    EXPECT_NE(std::find(boxes.begin(), boxes.end(), box_of(crop)), boxes.end())
        << picture["file"] << " " << crop["pixels"];
  }
}

TEST(GoldenCrops, DecodedPixelsEqualTensorFlows) {
  PENSTOCK_NEEDS_SHARED("golden/crops.json");
  const json golden = test::golden_file("crops.json");
  for (const json& picture : golden["images"]) check_decode(picture, shared_picture_file(picture));
}

TEST(GoldenCrops, CropsEqualTensorFlowsInEveryBitWithEachSimd) {
  PENSTOCK_NEEDS_SHARED("golden/crops.json");
  int crops = 0;
  const json golden = test::golden_file("crops.json");
  for (const json& picture : golden["images"]) {
    const Tensor file = shared_picture_file(picture);
    for (const json& crop : picture["crops"]) {
      const Tensor image = decode_jpeg(bytes_of(file), {.dct = dct_of(crop)});
      const std::string name = picture["file"].get<std::string>() + " " + crop["pixels"].dump();
      for (const Simd simd : test::is_smallest() ? std::vector{best_simd()} : supported_simd())
        check_crop(crop, image, simd, name + " " + std::string(to_string(simd)));
      check_halves(crop, image, name);
      ++crops;
    }
  }
  EXPECT_EQ(crops, 54);
}

TEST(GoldenCrops, BoxesOfTheXmlEqualTensorFlowsInEveryBit) {
  PENSTOCK_NEEDS_SHARED("golden/crops.json");
  const json golden = test::golden_file("crops.json");
  for (const json& picture : golden["images"]) {
    const VocAnnotation annotation = parse_voc(shared_file(picture["xml"]));
    EXPECT_EQ(annotation.width, picture["width"]);
    EXPECT_EQ(annotation.height, picture["height"]);
    check_boxes(picture, annotation);
  }
}

using Operator = std::function<Tensor(const ImageView&, const json&)>;

Size size_in(const json& pair) { return {pair[0], pair[1]}; }

Window window_in(const json& entry) {
  return {.y = entry["i"], .x = entry["j"], .height = entry["h"], .width = entry["w"]};
}

const std::map<std::string, Filter> kFilters{
    {"nearest", Filter::nearest}, {"bilinear", Filter::bilinear}, {"bicubic", Filter::bicubic}};

ResizeOptions options_in(const json& entry) { return {.filter = kFilters.at(entry["filter"])}; }

Tensor resized(const ImageView& image, const json& entry) {
  const json& box = entry["box"];
  if (box.is_null()) return resize(image, size_in(entry["size"]), options_in(entry));
  return resize(image, Region{box[0], box[1], box[2], box[3]}, size_in(entry["size"]), options_in(entry));
}

Tensor resized_crop(const ImageView& image, const json& entry) {
  return resize(image.window(window_in(entry)), size_in(entry["size"]), options_in(entry));
}

Tensor centre(const ImageView& image, const json& entry) {
  return resize_and_centre_crop(image, entry["shorter"], size_in(entry["crop"]), options_in(entry));
}

// Runs all cases of one operator with the kFilters that are built, or without one, and counts them.
int check_operator(const char* name, const Operator& apply) {
  int cases = 0;
  const json golden = test::golden_file("resize.json");
  for (const json& picture : golden["images"]) {
    const Tensor image = decode_jpeg(bytes_of(shared_picture_file(picture)));
    EXPECT_EQ(hash_of(image), picture["rgb_sha256"]);
    for (const json& entry : picture["cases"]) {
      if (entry["op"] != name || !kFilters.contains(entry.value("filter", "bilinear"))) continue;
      EXPECT_EQ(hash_of(apply(view_of(image), entry)), entry["sha256"]) << entry["id"];
      ++cases;
    }
  }
  return cases;
}

TEST(GoldenResize, ResizeEqualsPillowsInEveryByte) {
  PENSTOCK_NEEDS_SHARED("golden/resize.json");
  EXPECT_EQ(check_operator("resize", resized), 120);
}

TEST(GoldenResize, ResizedCropEqualsTorchvisionsInEveryByte) {
  PENSTOCK_NEEDS_SHARED("golden/resize.json");
  EXPECT_EQ(check_operator("resized_crop", resized_crop), 36);
}

TEST(GoldenResize, ResizeAndCentreCropEqualsTorchvisionsInEveryByte) {
  PENSTOCK_NEEDS_SHARED("golden/resize.json");
  EXPECT_EQ(check_operator("resize_shorter_center_crop", centre), 24);
}

TEST(GoldenResize, MirroredPicturesAreEqual) {
  PENSTOCK_NEEDS_SHARED("golden/resize.json");
  const auto mirror = [](const ImageView& image, const json&) { return hflip(image); };
  EXPECT_EQ(check_operator("hflip", mirror), 12);
}

TEST(GoldenResize, NormalisedValuesAreEqualInEveryBit) {
  PENSTOCK_NEEDS_SHARED("golden/resize.json");
  const Normaliser normaliser;
  const auto normalise = [&](const ImageView& image, const json& entry) {
    const ImageView part = image.window(window_in(entry));
    const NormaliseOptions planes{.layout = Layout::nchw};
    EXPECT_EQ(hash_of(normaliser(part, DType::f16, planes)), entry["f16_sha256"]) << entry["id"];
    EXPECT_EQ(hash_of(normaliser(part, DType::bf16, planes)), entry["bf16_sha256"]) << entry["id"];
    return normaliser(part, DType::f32, planes);
  };
  EXPECT_EQ(check_operator("normalise", normalise), 12);
}

}  // namespace
}  // namespace penstock::image
