// Pixels into the memory of an example, in its type and layout.
#pragma once

#include <penstock/image/convert.h>
#include <penstock/image/view.h>
#include <penstock/tensor.h>

#include <cstdint>
#include <functional>
#include <span>

namespace penstock::imagenet {

// Has `fill` write interleaved RGB values in 0..255 and stores them in `out`: at once where `out`
// is f32 and nhwc, by way of memory of this thread otherwise.
void store_values(Tensor& out, image::Layout layout,
                  const std::function<void(std::span<float>)>& fill);

// Stores pixels as they are in `out` of type u8.
void store_pixels(Tensor& out, const image::ImageView& view, const image::NormaliseOptions& how);

// Stores pixels normalised with ImageNet's mean and deviation in `out` of type f32, f16 or bf16.
void store_normalised(Tensor& out, const image::ImageView& view,
                      const image::NormaliseOptions& how);

}  // namespace penstock::imagenet
