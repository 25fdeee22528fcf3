// Which part of an image a pipeline looks at: the geometry of RandomResizedCrop, Resize and
// CenterCrop.
#include <penstock/image/resize.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "ops/image/check.h"

namespace penstock::image {
namespace {

// Halves to even whatever the thread's rounding mode is, as Python's round().
std::int64_t rounded(double value) {
  const double below = std::floor(value);
  const double rest = value - below;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0);
  return static_cast<std::int64_t>(below) + (up ? 1 : 0);
}

double between(double low, double high, double uniform) { return low + (high - low) * uniform; }

// 0 .. most, each equally likely; the last line guards against a product that rounds up to most
// + 1.
std::int64_t whole_number_up_to(std::int64_t most, double uniform) {
  const auto drawn = static_cast<std::int64_t>(uniform * static_cast<double>(most + 1));
  return std::clamp<std::int64_t>(drawn, 0, most);
}

void check_options(Size image, const RandomCropOptions& options) {
  if (image.height < 1 || image.width < 1)
    throw Error(ErrorCode::invalid_argument, "random_crop: the image is empty; filter such images out before");
  const auto ordered = [](double low, double high) { return low > 0 && low <= high && std::isfinite(high); };
  if (!ordered(options.min_area, options.max_area) || !ordered(options.min_ratio, options.max_ratio))
    throw Error(ErrorCode::invalid_argument,
                "random_crop: needs 0 < min_area <= max_area and 0 < min_ratio <= max_ratio, but "
                "these are " +
                    std::to_string(options.min_area) + ", " + std::to_string(options.max_area) + " and " +
                    std::to_string(options.min_ratio) + ", " + std::to_string(options.max_ratio));
}

std::optional<Size> try_size(Size image, const Uniform& uniform, const RandomCropOptions& options) {
  const double area = static_cast<double>(image.height) * static_cast<double>(image.width) *
                      between(options.min_area, options.max_area, uniform());
  const double ratio = std::exp(between(std::log(options.min_ratio), std::log(options.max_ratio), uniform()));
  const double width = std::sqrt(area * ratio);
  const double height = std::sqrt(area / ratio);
  // Compared as double first: a large max_area could overflow the conversion.
  if (width > static_cast<double>(image.width) + 1 || height > static_cast<double>(image.height) + 1)
    return std::nullopt;
  const Size size{rounded(height), rounded(width)};
  const bool fits = size.height > 0 && size.width > 0 && size.height <= image.height && size.width <= image.width;
  return fits ? std::optional(size) : std::nullopt;
}

// The largest size of an allowed ratio.
Size fallback_size(Size image, const RandomCropOptions& options) {
  const auto height = static_cast<double>(image.height);
  const auto width = static_cast<double>(image.width);
  const auto at_least_one = [](std::int64_t n, std::int64_t most) { return std::clamp<std::int64_t>(n, 1, most); };
  if (width / height < options.min_ratio)
    return {at_least_one(rounded(width / options.min_ratio), image.height), image.width};
  if (width / height > options.max_ratio)
    return {image.height, at_least_one(rounded(height * options.max_ratio), image.width)};
  return image;
}

}  // namespace

Window random_crop(Size image, const Uniform& uniform, const RandomCropOptions& options) {
  check_options(image, options);
  for (int i = 0; i < options.tries; ++i) {
    const std::optional<Size> size = try_size(image, uniform, options);
    if (!size) continue;
    const std::int64_t y = whole_number_up_to(image.height - size->height, uniform());
    const std::int64_t x = whole_number_up_to(image.width - size->width, uniform());
    return {y, x, size->height, size->width};
  }
  const Size size = fallback_size(image, options);
  return {(image.height - size.height) / 2, (image.width - size.width) / 2, size.height, size.width};
}

Size shorter_side_size(Size image, std::int64_t shorter) {
  check_output_size({shorter, 1}, "shorter_side_size");
  check_output_size(image, "shorter_side_size");
  const bool is_tall = image.width <= image.height;
  const std::int64_t longer = is_tall ? shorter * image.height / image.width : shorter * image.width / image.height;
  check_output_size({longer, 1}, "shorter_side_size");
  return is_tall ? Size{longer, shorter} : Size{shorter, longer};
}

Window centre_window(Size image, Size crop) {
  check_output_size(crop, "centre_window");
  if (crop.height > image.height || crop.width > image.width)
    throw Error(ErrorCode::invalid_argument, "the centre crop of " + std::to_string(crop.height) + " x " +
                                                 std::to_string(crop.width) + " is larger than the image of " +
                                                 std::to_string(image.height) + " x " + std::to_string(image.width));
  const auto offset = [](std::int64_t rest) { return rounded(static_cast<double>(rest) / 2); };
  return {offset(image.height - crop.height), offset(image.width - crop.width), crop.height, crop.width};
}

}  // namespace penstock::image
