#include <algorithm>
#include <array>
#include <cstdlib>

#include "ops/image/idct_kernels.h"
#include "ops/image/idct_range.h"

namespace penstock::image {
namespace {

using Eight = std::array<std::int64_t, 8>;

// The products of kOddWeights with factors in common taken out, as islow does: 9 in place of 16.
std::array<std::int64_t, 4> odd_part(const Eight& in) {
  const std::int64_t in37 = in[3] + in[7], in15 = in[1] + in[5];
  const std::int64_t all = (in37 + in15) * 9633;
  const std::int64_t of37 = all - in37 * 16069, of15 = all - in15 * 3196;
  const std::int64_t of17 = (in[1] + in[7]) * 7373, of35 = (in[3] + in[5]) * 20995;
  return {in[1] * 12299 - of17 + of15, in[3] * 25172 - of35 + of37, in[5] * 16819 - of35 + of15, in[7] * 2446 - of17 + of37};
}

template <int kShift>
Eight transformed(const Eight& in) {
  constexpr std::int64_t kHalf = std::int64_t{1} << (kShift - 1);
  const std::int64_t sum = kUnitWeight * (in[0] + in[4]) + kHalf, difference = kUnitWeight * (in[0] - in[4]) + kHalf;
  const std::int64_t both = (in[2] + in[6]) * kEvenWeights[0][1];
  const std::int64_t outer = both + in[2] * 6270, inner = both - in[6] * 15137;
  const std::array<std::int64_t, 4> odd = odd_part(in);
  return {(sum + outer + odd[0]) >> kShift,        (difference + inner + odd[1]) >> kShift, (difference - inner + odd[2]) >> kShift,
          (sum - outer + odd[3]) >> kShift,        (sum - outer - odd[3]) >> kShift,        (difference - inner - odd[2]) >> kShift,
          (difference + inner - odd[1]) >> kShift, (sum + outer - odd[0]) >> kShift};
}

struct Block {
  std::array<Eight, 8> rows;
  bool is_quick = true;  // no column's sum is above kQuickLimit
};

void transform_column(const std::int16_t* column, const std::int16_t* steps, std::size_t x, Block& block) {
  Eight in;
  int any = 0;
  for (std::size_t y = 1; y < 8; ++y) any |= column[y * kGroupStride];
  in[0] = column[0] * steps[0];
  block.is_quick = block.is_quick && std::abs(in[0]) <= kQuickLimit;
  if (any == 0) {
    for (Eight& row : block.rows) row[x] = in[0] * (kUnitWeight >> kColumnShift);
    return;
  }
  std::int64_t sum = std::abs(in[0]);
  for (std::size_t y = 1; y < 8; ++y) {
    in[y] = column[y * kGroupStride] * steps[y * kGroupStride];
    sum += std::abs(in[y]);
  }
  block.is_quick = block.is_quick && sum <= kQuickLimit;
  const Eight out = transformed<kColumnShift>(in);
  for (std::size_t y = 0; y < 8; ++y) block.rows[y][x] = out[y];
}

// Returns whether all are within the range for which a clamp is right.
bool store_row(const Eight& row, std::uint8_t* samples) {
  bool is_good = true;
  for (std::size_t x = 0; x < 8; ++x) {
    is_good = is_good && row[x] >= kLowest && row[x] <= kHighest;
    samples[x] = static_cast<std::uint8_t>(std::clamp<std::int64_t>(row[x] + 128, 0, 255));
  }
  return is_good;
}

bool transform_block(const std::int16_t* coefficients, const std::int16_t* steps, std::uint8_t* samples, std::size_t stride) {
  Block block;
  for (std::size_t x = 0; x < 8; ++x) transform_column(coefficients + x, steps + x, x, block);
  bool is_good = block.is_quick || is_within_range(coefficients, steps);
  for (std::size_t y = 0; y < 8; ++y)
    is_good = store_row(transformed<kRowShift>(block.rows[y]), samples + y * stride) && is_good;
  return is_good;
}

// One coefficient: 4 d, then (4 d * 8192 + 2^17) >> 18.
bool transform_flat_block(std::int16_t first, std::int16_t step, std::uint8_t* samples, std::size_t stride) {
  Eight row;
  row.fill((first * step + 4) >> 3);
  bool is_good = true;
  for (std::size_t y = 0; y < 8; ++y) is_good = store_row(row, samples + y * stride) && is_good;
  return is_good;
}

bool transform(std::int16_t* groups, std::uint8_t* has_ac, std::size_t count, const IdctTable& table, std::uint8_t* samples,
               std::size_t stride) {
  bool is_good = true;
  for (std::size_t i = 0; i < count * kBlocksInGroup; ++i, samples += 8) {
    std::int16_t* const block = groups + i / kBlocksInGroup * kGroupValues + i % kBlocksInGroup * 8;
    const bool is_fine = has_ac[i / kBlocksInGroup] == 0 ? transform_flat_block(block[0], table.steps[0], samples, stride)
                                                         : transform_block(block, table.steps, samples, stride);
    is_good = is_fine && is_good;
    for (std::size_t y = 0; y < 8; ++y) std::fill_n(block + y * kGroupStride, 8, std::int16_t{0});
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
