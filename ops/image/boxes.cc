#include <penstock/image/boxes.h>

#include <algorithm>
#include <cmath>
#include <string>

#include <penstock/error.h>

namespace penstock::image {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
  throw Error(ErrorCode::invalid_argument, "transform_boxes: " + reason);
}

void check(const Window& crop, Size size, double least_visible) {
  if (crop.height <= 0 || crop.width <= 0)
    refuse("the crop must have pixels, but is " + std::to_string(crop.height) + " x " + std::to_string(crop.width));
  if (size.height <= 0 || size.width <= 0)
    refuse("the size must be positive, but is " + std::to_string(size.height) + " x " + std::to_string(size.width));
  if (!(least_visible >= 0 && least_visible <= 1))
    refuse("least_visible must lie in 0..1, but is " + std::to_string(least_visible));
}

void check_finite(const PixelBox& box, std::size_t number) {
  if (std::isfinite(box.ymin) && std::isfinite(box.xmin) && std::isfinite(box.ymax) && std::isfinite(box.xmax)) return;
  refuse("box " + std::to_string(number) + " has a corner that is not finite; leave it out or mend it");
}

// Between two edges of the crop, in its own units.
float cut(float at, std::int64_t begin, std::int64_t length) {
  return std::clamp(at - static_cast<float>(begin), 0.0F, static_cast<float>(length));
}

float scaled(float at, std::int64_t from, std::int64_t to) {
  return static_cast<float>(static_cast<double>(at) * static_cast<double>(to) / static_cast<double>(from));
}

PixelBox resized(const PixelBox& box, const Window& crop, Size size) {
  return {scaled(box.ymin, crop.height, size.height), scaled(box.xmin, crop.width, size.width),
          scaled(box.ymax, crop.height, size.height), scaled(box.xmax, crop.width, size.width)};
}

PixelBox mirrored(const PixelBox& box, Size size) {
  const auto width = static_cast<float>(size.width);
  return {box.ymin, width - box.xmax, box.ymax, width - box.xmin};
}

}  // namespace

std::vector<MovedBox> transform_boxes(std::span<const PixelBox> boxes, const Window& crop, Size size, Mirror mirror,
                                      double least_visible) {
  check(crop, size, least_visible);
  std::vector<MovedBox> moved;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const PixelBox& box = boxes[i];
    check_finite(box, i);
    if (!(box.ymin < box.ymax && box.xmin < box.xmax)) continue;
    const PixelBox inside = {cut(box.ymin, crop.y, crop.height), cut(box.xmin, crop.x, crop.width),
                             cut(box.ymax, crop.y, crop.height), cut(box.xmax, crop.x, crop.width)};
    const float visible = inside.area() / box.area();
    if (!(visible > 0) || visible < least_visible) continue;
    const PixelBox result = resized(inside, crop, size);
    moved.push_back({mirror == Mirror::yes ? mirrored(result, size) : result, i, std::min(visible, 1.0F)});
  }
  return moved;
}

}  // namespace penstock::image
