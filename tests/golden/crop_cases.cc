#include <penstock/image.h>
#include <penstock/io.h>
#include <penstock/voc.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <vector>

#include "tests/golden/image_cases.h"
#include "tests/support/sha256.h"

namespace golden {

namespace ps = penstock;
using nlohmann::json;
using ps::test::sha256;
using ps::test::sha256_of;

namespace {

ps::image::Dct dct_of(const json& method) {
  if (method == "INTEGER_ACCURATE") return ps::image::Dct::islow;
  if (method == "INTEGER_FAST") return ps::image::Dct::ifast;
  throw std::invalid_argument("unknown dct_method " + method.dump());
}

ps::Tensor decode(const json& image, const std::filesystem::path& data, const json& method, bool fancy) {
  const ps::Tensor file = read_expected_file(data / std::string(image.at("file")), image.at("file_sha256"));
  return ps::image::decode_jpeg(ps::image::bytes_of(file), {.dct = dct_of(method), .fancy_upsampling = fancy});
}

json pixel(const ps::Tensor& rgb, std::int64_t y, std::int64_t x) {
  const auto values = rgb.row(y).row(x);
  const auto channels = values.values<std::uint8_t>();
  return std::vector<int>(channels.begin(), channels.end());
}

void check_decode(const json& image, const json& expected, const std::filesystem::path& data) {
  const ps::Tensor rgb = decode(image, data, expected.at("dct_method"), expected.at("fancy_upscaling"));
  const std::int64_t height = image.at("height"), width = image.at("width");
  expect_equal("shape", {height, width, 3}, rgb.shape());
  const auto values = rgb.values<std::uint8_t>();
  expect_equal("pixel_0_0", expected.at("pixel_0_0"), pixel(rgb, 0, 0));
  expect_equal("pixel_mid", expected.at("pixel_mid"), pixel(rgb, height / 2, width / 2));
  expect_equal("sum", expected.at("sum"), std::accumulate(values.begin(), values.end(), std::int64_t{0}));
  expect_equal("rgb_sha256", expected.at("rgb_sha256"), sha256_of(values));
}

std::vector<std::uint32_t> bits_of(const ps::image::Box& box) {
  return {std::bit_cast<std::uint32_t>(box.ymin), std::bit_cast<std::uint32_t>(box.xmin),
          std::bit_cast<std::uint32_t>(box.ymax), std::bit_cast<std::uint32_t>(box.xmax)};
}

ps::image::Box box_of(const json& bits) {
  const auto corner = [&](std::size_t i) { return std::bit_cast<float>(bits.at(i).get<std::uint32_t>()); };
  return {.ymin = corner(0), .xmin = corner(1), .ymax = corner(2), .xmax = corner(3)};
}

// The crop's box must be the one that the annotation gives for its pixels.
void check_box(const json& image, const json& crop, const std::filesystem::path& data) {
  if (crop.at("pixels").is_null()) return expect_equal("box_bits", crop.at("box_bits"), bits_of({}));
  const ps::Tensor xml = read_expected_file(data / std::string(image.at("xml")), image.at("xml_sha256"));
  const ps::VocAnnotation annotation = ps::parse_voc(xml);
  const auto object = std::ranges::find_if(annotation.objects, [&](const ps::VocObject& o) {
    return json{o.xmin, o.ymin, o.xmax, o.ymax} == crop["pixels"];
  });
  if (object == annotation.objects.end()) throw Mismatch("objects", "one at " + crop["pixels"].dump(), "none there");
  const auto boxes = ps::normalised_boxes(annotation, {.policy = ps::BoxPolicy::tf});
  const auto index = static_cast<std::size_t>(object - annotation.objects.begin());
  expect_equal("box_bits", crop.at("box_bits"), bits_of(boxes.at(index)));
}

template <class Value> json at_indices(const json& indices, std::span<const Value> values) {
  json found = json::array();
  for (const json& index : indices) found.push_back(values[index.get<std::size_t>()]);
  return found;
}

void check_values(const json& crop, const std::string& type, std::span<const float> values, const std::string& hash) {
  const json index = crop.at("index");
  expect_equal(type + " values", crop.at(type).get<std::vector<float>>(), at_indices(index, values));
  expect_equal(type + "_sha256", crop.at(type + "_sha256"), hash);
}

void check_crop(const json& image, const json& crop, const std::filesystem::path& data) {
  check_box(image, crop, data);
  const ps::Tensor rgb = decode(image, data, crop.at("dct_method"), true);
  const ps::image::Box box = box_of(crop.at("box_bits"));
  const ps::image::Size size{crop.at("crop").at(0), crop.at("crop").at(1)};
  const ps::Tensor result = ps::image::crop_and_resize(ps::image::view_of(rgb), std::span(&box, 1), size);
  const auto f32 = result.values<float>();
  check_values(crop, "f32", f32, sha256_of(f32));

  std::vector<std::uint16_t> f16(f32.size());
  ps::image::convert_to_f16(f32, f16);
  std::vector<float> back(f32.size());
  std::ranges::transform(f16, back.begin(), ps::image::from_f16);
  check_values(crop, "f16", back, sha256(std::as_bytes(std::span(f16))));
  expect_equal("f32_of_f16_sha256", crop.at("f32_of_f16_sha256"), sha256(std::as_bytes(std::span(back))));
}

std::string id_of(const json& image, const json& part, const char* kind) {
  return image.at("file").get<std::string>() + ' ' + kind + ' ' + part.at("dct_method").get<std::string>();
}

}  // namespace

ps::Tensor read_expected_file(const std::filesystem::path& file, const json& hash) {
  ps::Tensor bytes = ps::read_file(file.string());
  expect_equal("sha256 of '" + file.string() + "'", hash, sha256(ps::image::bytes_of(bytes)));
  return bytes;
}

void expect_equal(const std::string& what, const json& expected, const json& got) {
  if (expected != got) throw Mismatch(what, expected.dump(), got.dump());
}

void check_crops(const json& image, const std::filesystem::path& data, Report& report) {
  for (const json& expected : image.at("decode")) {
    const std::string upsampling = expected.at("fancy_upscaling") ? " fancy" : " plain";
    report.run(id_of(image, expected, "decode") + upsampling, [&] { check_decode(image, expected, data); });
  }
  int number = 0;
  for (const json& crop : image.at("crops")) {
    const std::string id = id_of(image, crop, "crop") + ' ' + std::to_string(number++);
    report.run(id, [&] { check_crop(image, crop, data); });
  }
}

}  // namespace golden
