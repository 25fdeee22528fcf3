// ImageView: a look at 8-bit RGB pixels that somebody else holds; how penstock's image functions
// take their input.
//
// A view is three sizes and a pointer: copying it or cutting a window out of it costs nothing. It
// must not outlive the memory. Const use from any number of threads is safe while nobody writes to
// the pixels.
//
//   ps::Tensor image = ps::image::decode_jpeg(bytes);
//   image.shape()  ->  [375, 500, 3]
//   ps::image::ImageView whole = ps::image::view_of(image);
//   ps::image::ImageView part = whole.window({.y = 75, .x = 138, .height = 224, .width = 224});
#pragma once

#include <penstock/tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>

#pragma GCC visibility push(default)

namespace penstock::image {

inline constexpr std::int64_t channels = 3;  // red, green, blue; a grey file gives three equal ones

// A rectangle of whole pixels, 0-based: rows y .. y + height - 1, columns x .. x + width - 1.
struct Window {
  std::int64_t y = 0;
  std::int64_t x = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;

  friend bool operator==(const Window&, const Window&) = default;
};

// Height and width in pixels.
struct Size {
  std::int64_t height = 0;
  std::int64_t width = 0;

  std::size_t values() const { return static_cast<std::size_t>(height * width * channels); }

  // What every function asks of its output: positive, and below 2^29 values, so that every index
  // stays below 2^31.
  bool is_possible() const {
    constexpr std::int64_t most = std::int64_t{1} << 29;
    return height > 0 && width > 0 && height <= most / channels / width;
  }

  friend bool operator==(const Size&, const Size&) = default;
};

// Interleaved RGB bytes: pixel (y, x) lies at pixels + y * stride + x * 3.
struct ImageView {
  const std::uint8_t* pixels = nullptr;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t stride = 0;  // bytes from one row to the next

  const std::uint8_t* row(std::int64_t y) const { return pixels + y * stride; }

  // The part inside `part`, without a copy. Error(invalid_argument) unless it lies in the image and is not empty.
  ImageView window(const Window& part) const;
};

// Some pixels of a larger image: those of `window`, as decode_jpeg gives them where it was asked for no more. Functions
// that take one count positions in the whole image, and read no pixel outside the window.
struct ImagePart {
  ImageView pixels;  // of window.height x window.width
  Window window;     // where they lie
  Size whole;        // of the image
};

// The whole image as a part of itself.
inline ImagePart part_of(const ImageView& image) {
  return {image, {0, 0, image.height, image.width}, {image.height, image.width}};
}

// The pixels of a tensor u8 [height, width, 3], neither of them 0. Error(invalid_argument) for any other.
ImageView view_of(const Tensor& image);

// A copy of the pixels, u8 [height, width, 3].
Tensor copy_of(const ImageView& image);

// The image mirrored left to right. `out` has height * width * 3 bytes and is not the input's memory.
void hflip(const ImageView& image, std::span<std::uint8_t> out);
Tensor hflip(const ImageView& image);

}  // namespace penstock::image

#pragma GCC visibility pop
