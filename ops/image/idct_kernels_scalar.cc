#include <algorithm>
#include <array>
#include <cstdlib>

#include "ops/image/idct_kernels.h"
#include "ops/image/idct_range.h"

namespace penstock::image {
namespace {

using Eight = std::array<std::int32_t, 8>;

// What fits in 16 bits, d0 + d4 and d0 - d4 too, cannot overflow: 8192 * 2^15 + (10704 + 4433) * 2^15 + 29694 * 2^15 < 2^31.
template <int kShift>
Eight transformed(const Eight& in) {
  const std::int32_t sum = kUnitWeight * (in[0] + in[4]) + (1 << (kShift - 1));
  const std::int32_t difference = kUnitWeight * (in[0] - in[4]) + (1 << (kShift - 1));
  const std::int32_t outer = kEvenWeights[0][0] * in[2] + kEvenWeights[0][1] * in[6];
  const std::int32_t inner = kEvenWeights[1][0] * in[2] + kEvenWeights[1][1] * in[6];
  const std::array<std::int32_t, 4> even{sum + outer, difference + inner, difference - inner, sum - outer};
  Eight out;
  for (std::size_t x = 0; x < 4; ++x) {
    const int* const weights = kOddWeights[x];
    const std::int32_t odd = weights[0] * in[1] + weights[1] * in[3] + weights[2] * in[5] + weights[3] * in[7];
    out[x] = (even[x] + odd) >> kShift;
    out[7 - x] = (even[x] - odd) >> kShift;
  }
  return out;
}

// Steps are cut: see idct_range.h.
bool is_quickly_in_range(const std::int16_t* block, const std::int16_t* limits) {
  std::int64_t sum = 0;
  for (std::size_t y = 0; y < 8; ++y)
    for (std::size_t x = 0; x < 8; ++x) sum += std::abs(block[y * kGroupStride + x] * limits[y * kGroupStride + x]);
  return sum <= kQuickLimit;
}

void clear_block(std::int16_t* block) {
  for (std::size_t y = 0; y < 8; ++y) std::fill_n(block + y * kGroupStride, 8, std::int16_t{0});
}

Eight transformed_column(const std::int16_t* column, const std::int16_t* steps) {
  Eight in;
  bool is_flat = true;
  for (std::size_t y = 0; y < 8; ++y) {
    in[y] = column[y * kGroupStride] * steps[y * kGroupStride];
    is_flat = is_flat && (y == 0 || in[y] == 0);
  }
  if (!is_flat) return transformed<kColumnShift>(in);
  Eight out;
  out.fill(in[0] * (kUnitWeight >> kColumnShift));
  return out;
}

std::uint8_t sample_of(std::int32_t value) { return static_cast<std::uint8_t>(std::clamp(value + 128, 0, 255)); }

void transform_block(const std::int16_t* block, const std::int16_t* steps, std::uint8_t* samples, std::size_t stride) {
  std::array<Eight, 8> rows;
  for (std::size_t x = 0; x < 8; ++x) {
    const Eight column = transformed_column(block + x, steps + x);
    for (std::size_t y = 0; y < 8; ++y) rows[y][x] = column[y];
  }
  for (std::size_t y = 0; y < 8; ++y) {
    const Eight row = transformed<kRowShift>(rows[y]);
    for (std::size_t x = 0; x < 8; ++x) samples[y * stride + x] = sample_of(row[x]);
  }
}

bool transform(std::int16_t* groups, std::uint8_t* has_ac, std::size_t count, const IdctTable& table, std::uint8_t* samples,
               std::size_t stride) {
  bool is_good = true;
  for (std::size_t i = 0; i < count * kBlocksInGroup; ++i) {
    std::int16_t* const block = groups + i / kBlocksInGroup * kGroupValues + i % kBlocksInGroup * 8;
    if (is_quickly_in_range(block, table.limits) || is_within_range(block, table.steps))
      transform_block(block, table.steps, samples + 8 * i, stride);
    else
      is_good = false;
    clear_block(block);
  }
  std::fill_n(has_ac, count, std::uint8_t{0});
  return is_good;
}

}  // namespace

bool build(IdctTable& table, const QuantiserSteps& steps) noexcept {
  for (std::size_t y = 0; y < 8; ++y)
    for (std::size_t x = 0; x < kGroupStride; ++x) {
      const std::uint16_t step = steps[y * 8 + x % 8];
      if (step == 0 || step > 32767) return false;
      table.steps[y * kGroupStride + x] = static_cast<std::int16_t>(step);
      table.limits[y * kGroupStride + x] = static_cast<std::int16_t>(std::min<int>(step, kQuickLimit + 1));
    }
  return true;
}

const IdctKernels kScalarIdct{&transform};

}  // namespace penstock::image
