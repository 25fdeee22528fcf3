#include <penstock/image.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <string>

#include "tests/golden/image_cases.h"
#include "tests/support/sha256.h"

namespace golden {

namespace ps = penstock;
using nlohmann::json;
using ps::image::ImageView;
using ps::image::Size;
using ps::test::sha256_of;

namespace {

Size size_of(const json& pair) { return {pair.at(0), pair.at(1)}; }

ps::image::Window window_of(const json& a_case) {
  return {.y = a_case.at("i"), .x = a_case.at("j"), .height = a_case.at("h"), .width = a_case.at("w")};
}

ps::image::ResizeOptions options_of(const json& a_case) {
  const std::string filter = a_case.at("filter");
  if (filter == "nearest") return {.filter = ps::image::Filter::nearest};
  if (filter == "bilinear") return {.filter = ps::image::Filter::bilinear};
  if (filter == "bicubic") return {.filter = ps::image::Filter::bicubic};
  throw Unsupported("filter '" + filter + "' is not built yet");
}

// ------------------------------------------------------------------------------------------------
// bytes

ps::Tensor resize(const ImageView& image, const json& a_case) {
  const ps::image::ResizeOptions options = options_of(a_case);
  const Size size = size_of(a_case.at("size"));
  const json& box = a_case.at("box");
  if (box.is_null()) return ps::image::resize(image, size, options);
  return ps::image::resize(image, {box.at(0), box.at(1), box.at(2), box.at(3)}, size, options);
}

ps::Tensor resized_crop(const ImageView& image, const json& a_case) {
  return ps::image::resize(image.window(window_of(a_case)), size_of(a_case.at("size")), options_of(a_case));
}

ps::Tensor resize_shorter_center_crop(const ImageView& image, const json& a_case) {
  return ps::image::resize_and_centre_crop(image, a_case.at("shorter"), size_of(a_case.at("crop")), options_of(a_case));
}

// How far a result with another hash may be off, by the README of the golden files, section Resize.
struct Tolerance {
  int largest = 0;
  std::size_t equal = 32;  // of the 32 values
  double mean = 0;
};
constexpr Tolerance kExact{};
constexpr Tolerance kResized{.largest = 2, .equal = 30, .mean = 0.02};

struct Operator {
  ps::Tensor (*run)(const ImageView&, const json&);
  Tolerance tolerance;
};

const std::map<std::string, Operator>& operators() {
  static const std::map<std::string, Operator> table{
      {"hflip", {[](const ImageView& image, const json&) { return ps::image::hflip(image); }, kExact}},
      {"resize", {resize, kResized}},
      {"resized_crop", {resized_crop, kResized}},
      {"resize_shorter_center_crop", {resize_shorter_center_crop, kResized}},
  };
  return table;
}

void check_close(const json& a_case, std::span<const std::uint8_t> values, const Tolerance& tolerance) {
  std::size_t equal = 0;
  for (std::size_t i = 0; i < a_case.at("index").size(); ++i) {
    const auto flat = a_case["index"][i].get<std::size_t>();
    const int expected = a_case.at("value").at(i);
    if (std::abs(values[flat] - expected) > tolerance.largest)
      expect_equal("value " + std::to_string(flat), expected, values[flat]);
    if (values[flat] == expected) ++equal;
  }
  if (equal < tolerance.equal) expect_equal("equal values of 32", tolerance.equal, equal);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  if (std::abs(mean - a_case.at("mean").get<double>()) > tolerance.mean) expect_equal("mean", a_case["mean"], mean);
}

Tolerance tolerance_of(const json& a_case, const Operator& op) {
  return a_case.value("filter", "") == "nearest" ? kExact : op.tolerance;
}

void check_bytes(const json& a_case, const ImageView& image, const Operator& op) {
  const ps::Tensor result = op.run(image, a_case);
  expect_equal("shape", a_case.at("shape"), result.shape());
  const std::string hash = sha256_of(result.values<std::uint8_t>());
  if (a_case.at("sha256") == hash) return;
  const Tolerance tolerance = tolerance_of(a_case, op);
  check_close(a_case, result.values<std::uint8_t>(), tolerance);
  if (tolerance.largest == 0) expect_equal("sha256", a_case["sha256"], hash);
}

// ------------------------------------------------------------------------------------------------
// floats

// Stricter than the README, which allows 1e-6: a calculation in the stated steps gives the hashes.
void check_normalised(const json& a_case, const ImageView& image) {
  const ps::image::Normaliser normaliser;
  const ImageView part = image.window(window_of(a_case));
  const auto run = [&](ps::DType type) { return normaliser(part, type, {.layout = ps::image::Layout::nchw}); };
  const ps::Tensor f32 = run(ps::DType::f32), f16 = run(ps::DType::f16), bf16 = run(ps::DType::bf16);
  expect_equal("shape", a_case.at("shape"), f32.shape());
  expect_equal("sha256", a_case.at("sha256"), sha256_of(f32.values<float>()));
  expect_equal("f16_sha256", a_case.at("f16_sha256"), sha256_of(f16.values<std::uint16_t>()));
  expect_equal("bf16_sha256", a_case.at("bf16_sha256"), sha256_of(bf16.values<std::uint16_t>()));
}

void check_operator(const json& a_case, const ps::Tensor& rgb) {
  const std::string name = a_case.at("op");
  if (name == "normalise") return check_normalised(a_case, ps::image::view_of(rgb));
  const auto found = operators().find(name);
  if (found == operators().end()) throw Unsupported("op '" + name + "' is not built yet");
  check_bytes(a_case, ps::image::view_of(rgb), found->second);
}

ps::Tensor decode(const json& image, const std::filesystem::path& data) {
  const ps::Tensor file = read_expected_file(data / std::string(image.at("file")), image.at("file_sha256"));
  ps::Tensor rgb = ps::image::decode_jpeg(ps::image::bytes_of(file));
  expect_equal("rgb_sha256", image.at("rgb_sha256"), sha256_of(std::as_const(rgb).values<std::uint8_t>()));
  return rgb;
}

}  // namespace

void check_operators(const json& image, const std::filesystem::path& data, Report& report) {
  std::optional<ps::Tensor> rgb;  // the same for all cases; a failure to decode is a failure of each
  for (const json& a_case : image.at("cases")) {
    report.run(a_case.at("id"), [&] {
      if (!rgb) rgb = decode(image, data);
      check_operator(a_case, *rgb);
    });
  }
}

}  // namespace golden
