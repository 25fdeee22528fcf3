#include <algorithm>

#include "ops/image/ycc_kernels.h"

namespace penstock::image {
namespace {

constexpr std::int32_t kHalf = 1 << 15;  // of the fixed point

std::uint8_t clamped(std::int32_t value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

// JFIF 1.02: R = Y + 1.402 Cr, G = Y - 0.34414 Cb - 0.71414 Cr, B = Y + 1.772 Cb, with 16 bits behind the point.
void rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t width, std::uint8_t* out) {
  for (std::size_t i = 0; i < width; ++i, out += 3) {
    const std::int32_t blue = cb[i] - 128, red = cr[i] - 128;
    out[0] = clamped(y[i] + ((91881 * red + kHalf) >> 16));
    out[1] = clamped(y[i] + ((-22554 * blue - 46802 * red + kHalf) >> 16));
    out[2] = clamped(y[i] + ((116130 * blue + kHalf) >> 16));
  }
}

void grey(const std::uint8_t* y, std::size_t width, std::uint8_t* out) {
  for (std::size_t i = 0; i < width; ++i, out += 3) std::fill_n(out, 3, y[i]);
}

void double_across(const std::uint8_t* in, std::size_t width, std::uint8_t* out) {
  for (std::size_t i = 0; i < width; ++i) {
    out[2 * i] = static_cast<std::uint8_t>((3 * in[i] + *(in + i - 1) + 1) >> 2);
    out[2 * i + 1] = static_cast<std::uint8_t>((3 * in[i] + in[i + 1] + 2) >> 2);
  }
}

void mix_rows(const std::uint8_t* nearer, const std::uint8_t* farther, std::size_t width, bool is_lower, std::uint8_t* out) {
  for (std::size_t i = 0; i < width; ++i)
    out[i] = static_cast<std::uint8_t>((3 * nearer[i] + farther[i] + (is_lower ? 2 : 1)) >> 2);
}

void double_both(const std::uint8_t* nearer, const std::uint8_t* farther, std::size_t width, std::uint8_t* out) {
  std::int32_t before = 3 * *(nearer - 1) + *(farther - 1);
  std::int32_t here = 3 * nearer[0] + farther[0];
  for (std::size_t i = 0; i < width; ++i) {
    const std::int32_t behind = 3 * nearer[i + 1] + farther[i + 1];
    out[2 * i] = static_cast<std::uint8_t>((3 * here + before + 8) >> 4);
    out[2 * i + 1] = static_cast<std::uint8_t>((3 * here + behind + 7) >> 4);
    before = here;
    here = behind;
  }
}

}  // namespace

const YccKernels kScalarYcc{&rgb, &grey, &double_across, &mix_rows, &double_both};

}  // namespace penstock::image
