// The picture that the image benchmarks work on: 500 x 375, as large as most of ImageNet's, 4:4:4, about 110 KB.
#pragma once

#include <penstock/image/view.h>
#include <penstock/tensor.h>

#include <cstddef>
#include <span>

namespace penstock::bench {

std::span<const std::byte> sample_jpeg();

// The same, decoded.
image::ImageView sample_view();

}  // namespace penstock::bench
