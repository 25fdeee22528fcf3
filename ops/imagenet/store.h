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

// ImageNet's mean and deviation.
const image::Normaliser& imagenet_normaliser();

}  // namespace penstock::imagenet
