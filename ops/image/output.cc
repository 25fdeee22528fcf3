#include <penstock/image/output.h>

#include <string>

#include "ops/image/check.h"

namespace penstock::image {

Size size_of(const Tensor& values, Layout layout) {
  const Shape& shape = values.shape();
  const bool planes = layout == Layout::nchw;
  if (shape.size() == 3 && shape[planes ? 0 : 2] == channels)
    return planes ? Size{shape[1], shape[2]} : Size{shape[0], shape[1]};
  throw Error(ErrorCode::invalid_argument, std::string("output_of: needs a tensor of shape ") +
                                               (planes ? "[3, height, width]" : "[height, width, 3]") +
                                               ", but this one has " + penstock::to_string(shape));
}

Output output_of(Tensor& values, Layout layout) {
  check_output_size(size_of(values, layout), "output_of");
  const DType type = values.dtype();
  if (!is_pixel_type(type))
    throw Error(ErrorCode::invalid_argument,
                "output_of: needs values of type f32, f16, bf16 or u8, but these are " + std::string(to_string(type)));
  return {.memory = {values.data(), values.bytes()}, .type = type, .layout = layout};
}

}  // namespace penstock::image
