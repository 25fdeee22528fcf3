#include <algorithm>

#include "ops/image/resize_kernels.h"

namespace penstock::image {
namespace {

constexpr std::int32_t half = 1 << (kWeightBits - 1);

// Clips to a byte after the fixed point is taken away.
std::uint8_t to_byte(std::int32_t sum) { return static_cast<std::uint8_t>(std::clamp(sum >> kWeightBits, 0, 255)); }

void resize_row(const std::uint8_t* from, const Taps& columns, std::uint8_t* to) {
  for (const Taps::Span& span : columns.spans) {
    const std::uint8_t* pixel = from + span.begin * channels;
    const std::int32_t* weight = columns.weights.data() + span.weights;
    std::int32_t red = half, green = half, blue = half;
    for (std::int64_t i = 0; i < span.count; ++i, pixel += channels) {
      red += pixel[0] * weight[i];
      green += pixel[1] * weight[i];
      blue += pixel[2] * weight[i];
    }
    *to++ = to_byte(red);
    *to++ = to_byte(green);
    *to++ = to_byte(blue);
  }
}

void resize_rows(const ResizePlan& plan, const std::uint8_t* const* from, std::size_t, std::uint8_t* const* to) {
  for (std::size_t i = 0; i < kRowsAtOnce; ++i)
    if (i == 0 || to[i] != to[i - 1]) resize_row(from[i], *plan.columns, to[i]);
}

void resize_columns(const ResizePlan& plan, std::size_t i, const std::uint8_t* const* from, std::size_t bytes,
                    std::uint8_t* to) {
  const Taps::Span& span = plan.rows->spans[i];
  thread_local std::vector<std::int32_t> sums;
  sums.assign(bytes, half);
  for (std::size_t k = 0; k < static_cast<std::size_t>(span.count); ++k) {
    const std::int32_t weight = plan.rows->weights[span.weights + k];
    for (std::size_t x = 0; x < bytes; ++x) sums[x] += from[k][x] * weight;
  }
  for (std::size_t x = 0; x < bytes; ++x) to[x] = to_byte(sums[x]);
}

}  // namespace

const ResizeKernels kScalarResize{Packing::pairs, &resize_rows, &resize_columns};

}  // namespace penstock::image
