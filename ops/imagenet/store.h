// Pixels into the memory of an example, in its type and layout.
#pragma once

#include <penstock/image/convert.h>
#include <penstock/image/view.h>
#include <penstock/tensor.h>

namespace penstock::imagenet {

// Stores pixels as they are in `out` of type u8.
void store_pixels(Tensor& out, const image::ImageView& view, const image::NormaliseOptions& how);

// Stores pixels normalised with ImageNet's mean and deviation in `out` of type f32, f16 or bf16.
void store_normalised(Tensor& out, const image::ImageView& view,
                      const image::NormaliseOptions& how);

}  // namespace penstock::imagenet
