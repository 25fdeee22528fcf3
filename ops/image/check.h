// Checks of arguments that several image functions share.
#pragma once

#include <penstock/error.h>
#include <penstock/image/view.h>

#include <cstddef>
#include <string>

#include "lib/base/text.h"

namespace penstock::image {

using penstock::in_quotes;

// The caller's memory must have exactly the values of an image of this size.
inline void check_room(std::size_t values, Size size, const char* function) {
  if (values == size.values()) return;
  throw Error(ErrorCode::invalid_argument, std::string(function) + ": the output needs " +
                                               std::to_string(size.values()) + " values, but the span has " +
                                               std::to_string(values));
}

inline void check_output_size(Size size, const char* function) {
  if (size.is_possible()) return;
  throw Error(ErrorCode::invalid_argument, std::string(function) +
                                               ": the output size must be positive and below 2^29 values, but is " +
                                               std::to_string(size.height) + " x " + std::to_string(size.width));
}

inline bool is_pixel_type(DType type) {
  return type == DType::f32 || type == DType::f16 || type == DType::bf16 || type == DType::u8;
}

inline bool is_inside(const Window& part, Size image) {
  return part.y >= 0 && part.x >= 0 && part.height > 0 && part.width > 0 && part.height <= image.height - part.y &&
         part.width <= image.width - part.x;
}

inline std::string outside_text(const Window& part, Size image) {
  return "window of " + std::to_string(part.height) + " x " + std::to_string(part.width) + " at row " +
         std::to_string(part.y) + ", column " + std::to_string(part.x) + " does not lie in the image of " +
         std::to_string(image.height) + " x " + std::to_string(image.width);
}

// Pixels of the image, which must lie in the part. `advice` says how to get such a part.
inline ImageView cut(const ImagePart& image, const Window& needed, const char* function, const char* advice) {
  const Window& there = image.window;
  const bool inside = needed.y >= there.y && needed.x >= there.x &&
                      needed.height <= there.y + there.height - needed.y &&
                      needed.width <= there.x + there.width - needed.x;
  if (inside) return image.pixels.window({needed.y - there.y, needed.x - there.x, needed.height, needed.width});
  const auto text_of = [](const Window& w) {
    return std::to_string(w.height) + " x " + std::to_string(w.width) + " pixels at row " + std::to_string(w.y) +
           ", column " + std::to_string(w.x);
  };
  throw Error(ErrorCode::invalid_argument, std::string(function) + ": needs " + text_of(needed) +
                                               " of the image, but the part given has " + text_of(there) + "; " +
                                               advice);
}

}  // namespace penstock::image
