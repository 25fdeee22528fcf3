#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "ops/image/clamped.h"
#include "ops/image/idct_kernels.h"
#include "ops/image/idct_range.h"

namespace penstock::image {
namespace {

// Registers rather than an array, as in idct_kernels.cc. Sums and products wrap, as idct_range.h allows.
struct Eight {
  std::uint32_t v0, v1, v2, v3, v4, v5, v6, v7;
};

std::int32_t as_signed(std::uint32_t value) { return static_cast<std::int32_t>(value); }

// Outputs before their last shift. `bias` is added to each. The products of kOddWeights have factors in common taken
// out, as in islow: 9 in place of 16.
inline Eight sums_of(const Eight& in, std::uint32_t bias) {
  const std::uint32_t sum = kUnitWeight * (in.v0 + in.v4) + bias, difference = kUnitWeight * (in.v0 - in.v4) + bias;
  const std::uint32_t both = (in.v2 + in.v6) * 4433;
  const std::uint32_t outer = both + in.v2 * 6270, inner = both - in.v6 * 15137;
  const std::uint32_t even0 = sum + outer, even1 = difference + inner, even2 = difference - inner, even3 = sum - outer;

  const std::uint32_t in37 = in.v3 + in.v7, in15 = in.v1 + in.v5;
  const std::uint32_t all = (in37 + in15) * 9633;
  const std::uint32_t of37 = all - in37 * 16069, of15 = all - in15 * 3196;
  const std::uint32_t of17 = (in.v1 + in.v7) * 7373, of35 = (in.v3 + in.v5) * 20995;
  const std::uint32_t odd0 = in.v1 * 12299 - of17 + of15, odd1 = in.v3 * 25172 - of35 + of37;
  const std::uint32_t odd2 = in.v5 * 16819 - of35 + of15, odd3 = in.v7 * 2446 - of17 + of37;
  return {even0 + odd0, even1 + odd1, even2 + odd2, even3 + odd3,
          even3 - odd3, even2 - odd2, even1 - odd1, even0 - odd0};
}

// In most columns all values but the first are at most 256. The first may then have the rest of kQuickLimit, and
// nothing need be added up. A power of two, so that an OR is below it only if all are.
constexpr std::uint32_t kSmall = 256;
constexpr std::uint32_t kSmallFirst = kQuickLimit - 7 * kSmall;
static_assert(std::has_single_bit(kSmall));

int magnitude(std::uint32_t value) { return std::abs(as_signed(value)); }

// Whether the sum of magnitudes is at most kQuickLimit.
inline bool is_quick(const Eight& in) {
  const std::uint32_t seen = (in.v1 + kSmall) | (in.v2 + kSmall) | (in.v3 + kSmall) | (in.v4 + kSmall) |
                             (in.v5 + kSmall) | (in.v6 + kSmall) | (in.v7 + kSmall);
  if (seen < 2 * kSmall && in.v0 + kSmallFirst <= 2 * kSmallFirst) return true;
  std::int64_t sum = 0;
  for (const std::uint32_t value : {in.v0, in.v1, in.v2, in.v3, in.v4, in.v5, in.v6, in.v7}) sum += magnitude(value);
  return sum <= kQuickLimit;
}

using Workspace = std::array<std::uint32_t, 64>;

// Puts w into every eighth value of the workspace. Returns whether the quick test is passed.
bool transform_column(const std::int16_t* column, const std::int16_t* steps, std::uint32_t* out) {
  const auto coefficient = [column](std::size_t y) { return column[y * kGroupStride]; };
  const auto value = [&](std::size_t y) {
    return static_cast<std::uint32_t>(coefficient(y) * steps[y * kGroupStride]);
  };
  if ((coefficient(1) | coefficient(2) | coefficient(3) | coefficient(4) | coefficient(5) | coefficient(6) |
       coefficient(7)) == 0) {
    for (std::size_t y = 0; y < 8; ++y) out[8 * y] = value(0) * (kUnitWeight >> kColumnShift);
    return value(0) + kQuickLimit <= 2 * kQuickLimit;
  }
  const Eight in{value(0), value(1), value(2), value(3), value(4), value(5), value(6), value(7)};
  const Eight sums = sums_of(in, 1U << (kColumnShift - 1));
  std::size_t at = 0;
  for (const std::uint32_t sum : {sums.v0, sums.v1, sums.v2, sums.v3, sums.v4, sums.v5, sums.v6, sums.v7}) {
    out[at] = static_cast<std::uint32_t>(as_signed(sum) >> kColumnShift);
    at += 8;
  }
  return is_quick(in);
}

// g - kLowest lies in 0 .. kRange - 1 exactly where g is in range.
constexpr std::uint32_t kRange = kHighest - kLowest + 1;
static_assert(std::has_single_bit(kRange));
constexpr std::uint32_t kRowBias = (std::uint32_t{-kLowest} << kRowShift) + (1U << (kRowShift - 1));
constexpr auto kSamples = clamped<kRange>(kLowest + 128);

// One row of samples. Returns all bits of g - kLowest that were seen.
std::uint32_t transform_row(const std::uint32_t* row, std::uint8_t* samples) {
  const Eight in{row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]};
  std::uint32_t seen = 0;
  const auto sample = [&seen](std::uint32_t sum) {
    const std::uint32_t raised = sum >> kRowShift;
    seen |= raised;
    return kSamples[raised % kRange];
  };
  if ((in.v1 | in.v2 | in.v3 | in.v4 | in.v5 | in.v6 | in.v7) == 0) {
    std::fill_n(samples, 8, sample(in.v0 * kUnitWeight + kRowBias));
    return seen;
  }
  const Eight sums = sums_of(in, kRowBias);
  const std::array<std::uint8_t, 8> eight{sample(sums.v0), sample(sums.v1), sample(sums.v2), sample(sums.v3),
                                          sample(sums.v4), sample(sums.v5), sample(sums.v6), sample(sums.v7)};
  std::copy(eight.begin(), eight.end(), samples);
  return seen;
}

bool transform_block(const std::int16_t* coefficients, const std::int16_t* steps, std::uint8_t* samples,
                     std::size_t stride) {
  Workspace rows;
  bool are_quick = true;
  for (std::size_t x = 0; x < 8; ++x)
    are_quick = transform_column(coefficients + x, steps + x, rows.data() + x) && are_quick;
  if (!are_quick && !is_within_range(coefficients, steps)) return false;
  std::uint32_t seen = 0;
  for (std::size_t y = 0; y < 8; ++y) seen |= transform_row(rows.data() + 8 * y, samples + y * stride);
  return seen < kRange;
}

// One coefficient: 4 d, then (4 d * 8192 + 2^17) >> 18.
bool transform_flat_block(std::int16_t first, std::int16_t step, std::uint8_t* samples, std::size_t stride) {
  const auto raised = static_cast<std::uint32_t>(((first * step + 4) >> 3) - kLowest);
  for (std::size_t y = 0; y < 8; ++y) std::fill_n(samples + y * stride, 8, kSamples[raised % kRange]);
  return raised < kRange;
}

bool transform(std::int16_t* groups, std::uint8_t* has_ac, std::size_t count, const IdctTable& table,
               std::uint8_t* samples, std::size_t stride) {
  bool is_good = true;
  for (std::size_t i = 0; i < count * kBlocksInGroup; ++i, samples += 8) {
    std::int16_t* const block = groups + i / kBlocksInGroup * kGroupValues + i % kBlocksInGroup * 8;
    const bool is_fine = has_ac[i / kBlocksInGroup] == 0
                             ? transform_flat_block(block[0], table.steps[0], samples, stride)
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
