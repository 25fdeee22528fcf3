// Needs -ffp-contract=off, which .cmake/options.cmake sets everywhere.
#include <penstock/image/convert.h>
#include <penstock/image/view.h>

#include "ops/image/crop_kernels.h"

namespace penstock::image {
namespace {

float mix(float a, float b, float fraction) { return a + (b - a) * fraction; }

void to_planes(const float* interleaved, std::size_t plane, float* planes) {
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t x = 0; x < plane; ++x) planes[c * plane + x] = interleaved[channels * x + c];
}

float same(float value) { return value; }

template <auto Convert, class Value> void store(RowPair rows, void* memory, std::size_t count, bool) {
  auto* const to = static_cast<Value*>(memory);
  for (std::size_t i = 0; i < count; ++i) {
    float value = mix(rows.top[i], rows.bottom[i], rows.fraction);
    if (rows.mean) value = (value * static_cast<float>(1.0 / 255.0) - rows.mean[i]) / rows.deviation[i];
    to[i] = Convert(value);
  }
}

}  // namespace

void mix_columns_one_by_one(const std::uint8_t* row, const CropColumns& columns, float* to) {
  for (std::size_t x = 0; x < columns.pixels; ++x) {
    const std::uint8_t* left = row + columns.left[x];
    const std::uint8_t* right = row + columns.right[x];
    for (std::size_t c = 0; c < channels; ++c) to[channels * x + c] = mix(left[c], right[c], columns.fraction[x]);
  }
}

const CropKernels kScalarCrop{{&mix_columns_one_by_one, nullptr, nullptr, nullptr, nullptr},
                              &to_planes,
                              &store<same, float>,
                              &store<to_f16, std::uint16_t>,
                              &store<to_bf16, std::uint16_t>,
                              &store<to_u8, std::uint8_t>};

}  // namespace penstock::image
