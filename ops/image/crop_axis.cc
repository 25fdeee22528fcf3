// Needs -ffp-contract=off, which .cmake/options.cmake sets everywhere: one fused multiply-add changes whole columns.
#include "ops/image/crop_axis.h"

#include <algorithm>
#include <cmath>

namespace penstock::image {
namespace {

// The position of output i of n on an image axis of `extent` pixels, in the kernel's order of operations.
float position(float low, float high, std::int64_t extent, std::int64_t i, std::int64_t n) {
  // Any finite box: the products below could still overflow to inf * 0.
  if (extent == 1) return 0;
  const auto span = static_cast<float>(extent - 1);
  if (n == 1) return static_cast<float>(0.5 * static_cast<double>(low + high) * span);
  const float scale = (high - low) * span / static_cast<float>(n - 1);
  return low * span + static_cast<float>(i) * scale;
}

// `at` is not negative, so that leaving out its fraction is rounding down.
void set_sample(CropAxis& axis, std::size_t i, float at, Interpolation method) {
  const bool nearest = method == Interpolation::nearest;
  const auto low = static_cast<std::int32_t>(nearest ? std::round(at) : at);
  const float fraction = nearest ? 0 : at - static_cast<float>(low);
  axis.low[i] = low;
  axis.high[i] = fraction > 0 ? low + 1 : low;
  axis.fraction[i] = fraction;
}

}  // namespace

void build_axis(CropAxis& axis, float low, float high, std::int64_t extent, std::int64_t count, Interpolation method) {
  const auto n = static_cast<std::size_t>(count);
  axis.low.resize(n);
  axis.high.resize(n);
  axis.fraction.resize(n);
  axis.first = axis.last = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float at = position(low, high, extent, static_cast<std::int64_t>(i), count);
    // Written so that a NaN, from boxes near the largest float, counts as outside.
    if (!(at >= 0 && at <= static_cast<float>(extent - 1))) continue;
    if (axis.last == axis.first) axis.first = i;
    axis.last = i + 1;
    set_sample(axis, i, at, method);
  }
}

void reverse(CropAxis& axis) {
  std::ranges::reverse(axis.low);
  std::ranges::reverse(axis.high);
  std::ranges::reverse(axis.fraction);
  const std::size_t first = axis.first;
  axis.first = axis.low.size() - axis.last;
  axis.last = axis.low.size() - first;
}

Reach reach_of(const CropAxis& axis) {
  const std::size_t last = axis.last - 1;
  return {std::min(axis.low[axis.first], axis.low[last]), std::max(axis.high[axis.first], axis.high[last])};
}

}  // namespace penstock::image
