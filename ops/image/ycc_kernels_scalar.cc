#include <algorithm>

#include "ops/image/clamped.h"
#include "ops/image/ycc_kernels.h"

namespace penstock::image {
namespace {

// JFIF 1.02: R = Y + 1.402 Cr, G = Y - 0.34414 Cb - 0.71414 Cr, B = Y + 1.772 Cb, with 16 bits behind the point: what
// is added to Y, for each Cb and Cr. Green's two parts are rounded together.
struct ColourTable {
  std::int32_t red[256], blue[256];
  std::int32_t green_of_red[256], green_of_blue[256];  // times 2^16
};

constexpr std::int32_t kHalf = 1 << 15;  // of the fixed point

constexpr ColourTable colour_table() {
  ColourTable table{};
  for (int i = 0; i < 256; ++i) {
    const int value = i - 128;
    table.red[i] = (91881 * value + kHalf) >> 16;
    table.blue[i] = (116130 * value + kHalf) >> 16;
    table.green_of_red[i] = -46802 * value + kHalf;
    table.green_of_blue[i] = -22554 * value;
  }
  return table;
}

constexpr ColourTable kColours = colour_table();

// What is added to Y is 227 at most, so the sum is above -256 and below 512.
constexpr int kLeast = -256;
constexpr auto kClamped = clamped<768>(kLeast);

void rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t width, std::uint8_t* out) {
  for (std::size_t i = 0; i < width; ++i, out += 3) {
    const std::uint8_t* const at = kClamped.data() - kLeast + y[i];
    out[0] = at[kColours.red[cr[i]]];
    out[1] = at[(kColours.green_of_blue[cb[i]] + kColours.green_of_red[cr[i]]) >> 16];
    out[2] = at[kColours.blue[cb[i]]];
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

void mix_rows(const std::uint8_t* nearer, const std::uint8_t* farther, std::size_t width, bool is_lower,
              std::uint8_t* out) {
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
