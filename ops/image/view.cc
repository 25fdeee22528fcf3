#include <penstock/image/view.h>

#include <cstring>

#include "ops/image/check.h"

namespace penstock::image {

ImageView ImageView::window(const Window& part) const {
  const Size size{height, width};
  if (!is_inside(part, size)) throw Error(ErrorCode::invalid_argument, outside_text(part, size));
  return {row(part.y) + part.x * channels, part.height, part.width, stride};
}

ImageView view_of(const Tensor& image) {
  const Shape& shape = image.shape();
  if (image.dtype() != DType::u8 || shape.size() != 3 || shape[0] < 1 || shape[1] < 1 || shape[2] != channels)
    throw Error(ErrorCode::invalid_argument, "an image must be u8 [height, width, 3], but this tensor is " +
                                                 std::string(to_string(image.dtype())) + " " + to_string(shape));
  return {image.values<std::uint8_t>().data(), shape[0], shape[1], shape[1] * channels};
}

Tensor copy_of(const ImageView& image) {
  Tensor result(DType::u8, {image.height, image.width, channels});
  std::uint8_t* out = result.values<std::uint8_t>().data();
  const std::int64_t row_bytes = image.width * channels;
  for (std::int64_t y = 0; y < image.height; ++y)
    std::memcpy(out + y * row_bytes, image.row(y), static_cast<std::size_t>(row_bytes));
  return result;
}

void hflip(const ImageView& image, std::span<std::uint8_t> out) {
  check_room(out.size(), {image.height, image.width}, "hflip");
  std::uint8_t* to = out.data();
  for (std::int64_t y = 0; y < image.height; ++y) {
    const std::uint8_t* from = image.row(y) + image.width * channels;
    for (std::int64_t x = 0; x < image.width; ++x, to += channels) {
      from -= channels;
      std::memcpy(to, from, channels);
    }
  }
}

Tensor hflip(const ImageView& image) {
  Tensor result(DType::u8, {image.height, image.width, channels});
  hflip(image, result.values<std::uint8_t>());
  return result;
}

}  // namespace penstock::image
