#include "ops/image/idct_range.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "ops/image/jpeg_group.h"

namespace penstock::image {
namespace {

using Eight = std::array<std::int64_t, 8>;

bool fits(std::int64_t value) noexcept { return value >= -32768 && value <= 32767; }

bool all_fit(const Eight& values) noexcept {
  for (const std::int64_t value : values)
    if (!fits(value)) return false;
  return true;
}

bool sums_fit(const Eight& in) noexcept {
  return fits(in[0] + in[4]) && fits(in[0] - in[4]) && fits(in[1] + in[5]) && fits(in[3] + in[7]);
}

Eight transformed(const Eight& in, int shift) noexcept {
  Eight out;
  for (std::size_t x = 0; x < 4; ++x) {
    const std::int64_t sign = x == 0 || x == 3 ? 1 : -1;
    const int* const even_weights = kEvenWeights[sign == 1 ? 0 : 1];
    const std::int64_t turned = even_weights[0] * in[2] + even_weights[1] * in[6];
    const std::int64_t even =
        kUnitWeight * (in[0] + sign * in[4]) + (x < 2 ? turned : -turned) + (std::int64_t{1} << (shift - 1));
    const int* const weights = kOddWeights[x];
    const std::int64_t odd = weights[0] * in[1] + weights[1] * in[3] + weights[2] * in[5] + weights[3] * in[7];
    out[x] = (even + odd) >> shift;
    out[7 - x] = (even - odd) >> shift;
  }
  return out;
}

bool is_row_within_range(const Eight& row) noexcept {
  if (!sums_fit(row)) return false;
  for (const std::int64_t value : transformed(row, kRowShift))
    if (value < kLowest || value > kHighest) return false;
  return true;
}

}  // namespace

bool is_within_range(const std::int16_t* block, const std::int16_t* steps) noexcept {
  std::array<Eight, 8> rows;
  for (std::size_t x = 0; x < 8; ++x) {
    Eight column;
    for (std::size_t y = 0; y < 8; ++y)
      column[y] = std::int64_t{block[y * kGroupStride + x]} * steps[y * kGroupStride + x];
    if (!all_fit(column) || !sums_fit(column)) return false;
    const Eight out = transformed(column, kColumnShift);
    if (!all_fit(out)) return false;
    for (std::size_t y = 0; y < 8; ++y) rows[y][x] = out[y];
  }
  return std::ranges::all_of(rows, is_row_within_range);
}

}  // namespace penstock::image
