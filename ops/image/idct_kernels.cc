#include "ops/image/idct_kernels.h"

#include "ops/image/idct_range.h"
#include "ops/image/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/image/idct_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/image/pack_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::image::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// A vector is a row of one, two or four blocks side by side. All operations stay within blocks of 16 bytes, hence of 8
// x 8 values.
using Tag16 = hn::CappedTag<std::int16_t, kGroupStride>;
using Tag32 = hn::Repartition<std::int32_t, Tag16>;
using Tag64 = hn::Repartition<std::uint64_t, Tag16>;
using Tag8 = hn::Repartition<std::uint8_t, Tag16>;
using V16 = hn::Vec<Tag16>;
using V32 = hn::Vec<Tag32>;
using V8 = hn::Vec<Tag8>;

constexpr std::size_t kLanes = hn::MaxLanes(Tag16());
static_assert(kGroupStride % kLanes == 0);

// By name, not in an array: g++ at -O2 keeps arrays in memory.
template <class V> struct Eight { V v0, v1, v2, v3, v4, v5, v6, v7; };

// first * a + second * b in each lane of 32 bits, where the values lie beside each other.
HWY_INLINE V32 pair_sum(V16 values, int first, int second) {
  const auto both = static_cast<std::uint32_t>(second) << 16 | (static_cast<std::uint32_t>(first) & 0xffffU);
  return pair_sums(values, hn::BitCast(Tag16(), hn::Set(Tag32(), static_cast<std::int32_t>(both))));
}

// ------------------------------------------------------------------------------------------------
// The transform; see idct_range.h.

// Outputs of one dimension before their last shift, for half of the lanes. `bias` is added to each.
HWY_INLINE Eight<V32> sums_of(V16 in04, V16 in26, V16 in13, V16 in57, V32 bias) {
  const auto odd = [&](int x) HWY_ATTR {
    const int* const w = kOddWeights[x];
    return hn::Add(pair_sum(in13, w[0], w[1]), pair_sum(in57, w[2], w[3]));
  };
  const V32 sum = hn::Add(pair_sum(in04, kUnitWeight, kUnitWeight), bias);
  const V32 difference = hn::Add(pair_sum(in04, kUnitWeight, -kUnitWeight), bias);
  const V32 outer = pair_sum(in26, kEvenWeights[0][0], kEvenWeights[0][1]);
  const V32 inner = pair_sum(in26, kEvenWeights[1][0], kEvenWeights[1][1]);
  const V32 even0 = hn::Add(sum, outer), even1 = hn::Add(difference, inner);
  const V32 even2 = hn::Sub(difference, inner), even3 = hn::Sub(sum, outer);
  const V32 odd0 = odd(0), odd1 = odd(1), odd2 = odd(2), odd3 = odd(3);
  return {hn::Add(even0, odd0), hn::Add(even1, odd1), hn::Add(even2, odd2), hn::Add(even3, odd3),
          hn::Sub(even3, odd3), hn::Sub(even2, odd2), hn::Sub(even1, odd1), hn::Sub(even0, odd0)};
}

template <int kShift> HWY_INLINE V16 shifted(V32 low, V32 high) {
  return hn::ReorderDemote2To(Tag16(), hn::ShiftRight<kShift>(low), hn::ShiftRight<kShift>(high));
}

template <int kShift> HWY_INLINE Eight<V16> transformed(const Eight<V16>& in, std::int32_t more) {
  const Tag16 d;
  const V32 bias = hn::Set(Tag32(), (1 << (kShift - 1)) + more);
  const Eight<V32> low = sums_of(hn::InterleaveLower(d, in.v0, in.v4), hn::InterleaveLower(d, in.v2, in.v6),
                                 hn::InterleaveLower(d, in.v1, in.v3), hn::InterleaveLower(d, in.v5, in.v7), bias);
  const Eight<V32> high = sums_of(hn::InterleaveUpper(d, in.v0, in.v4), hn::InterleaveUpper(d, in.v2, in.v6),
                                  hn::InterleaveUpper(d, in.v1, in.v3), hn::InterleaveUpper(d, in.v5, in.v7), bias);
  return {shifted<kShift>(low.v0, high.v0), shifted<kShift>(low.v1, high.v1), shifted<kShift>(low.v2, high.v2),
          shifted<kShift>(low.v3, high.v3), shifted<kShift>(low.v4, high.v4), shifted<kShift>(low.v5, high.v5),
          shifted<kShift>(low.v6, high.v6), shifted<kShift>(low.v7, high.v7)};
}

// Row r2 r1 r0, column c2 c1 c0 (in bits) goes to row r1 r0 c2, column c1 c0 r2: three times this transposes.
HWY_INLINE Eight<V16> woven(const Eight<V16>& in) {
  const Tag16 d;
  return {hn::InterleaveLower(d, in.v0, in.v4), hn::InterleaveUpper(d, in.v0, in.v4),
          hn::InterleaveLower(d, in.v1, in.v5), hn::InterleaveUpper(d, in.v1, in.v5),
          hn::InterleaveLower(d, in.v2, in.v6), hn::InterleaveUpper(d, in.v2, in.v6),
          hn::InterleaveLower(d, in.v3, in.v7), hn::InterleaveUpper(d, in.v3, in.v7)};
}

HWY_INLINE Eight<V16> transposed(const Eight<V16>& in) { return woven(woven(woven(in))); }

HWY_INLINE Eight<V16> dequantised(const std::int16_t* block, const std::int16_t* steps) {
  const Tag16 d;
  const auto row = [&](std::size_t y) HWY_ATTR {
    return hn::Mul(hn::Load(d, block + y * kGroupStride), hn::Load(d, steps + y * kGroupStride));
  };
  return {row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)};
}

// ------------------------------------------------------------------------------------------------
// Samples

// Rows y and y + 2 of the blocks, which begin in the lanes of 64 bits of two vectors.
HWY_INLINE void store_two_rows(hn::Vec<Tag64> rows, std::uint8_t* samples, std::size_t stride) {
  const V8 bytes = hn::BitCast(Tag8(), rows);
  const hn::Half<Tag8> half;
  hn::StoreU(hn::LowerHalf(half, bytes), half, samples);
  hn::StoreU(hn::UpperHalf(half, bytes), half, samples + 2 * stride);
}

// Four rows from (y, y + 1) and (y + 2, y + 3) of each block.
HWY_INLINE void store_four_rows(V8 first, V8 second, std::uint8_t* samples, std::size_t stride) {
  const Tag64 d;
  const auto low = hn::BitCast(d, first), high = hn::BitCast(d, second);
  store_two_rows(hn::ConcatEven(d, high, low), samples, stride);
  store_two_rows(hn::ConcatOdd(d, high, low), samples + stride, stride);
}

// From columns, as the rows' pass leaves them.
HWY_INLINE void store_samples(const Eight<V16>& in, std::uint8_t* samples, std::size_t stride) {
  const Tag8 d8;
  const hn::Repartition<std::uint16_t, Tag8> d16;
  const hn::Repartition<std::uint32_t, Tag8> d32;
  const V8 c04 = packed_bytes(in.v0, in.v4), c15 = packed_bytes(in.v1, in.v5);
  const V8 c26 = packed_bytes(in.v2, in.v6), c37 = packed_bytes(in.v3, in.v7);
  const auto c01 = hn::BitCast(d16, hn::InterleaveLower(d8, c04, c15)),
             c45 = hn::BitCast(d16, hn::InterleaveUpper(d8, c04, c15));
  const auto c23 = hn::BitCast(d16, hn::InterleaveLower(d8, c26, c37)),
             c67 = hn::BitCast(d16, hn::InterleaveUpper(d8, c26, c37));
  const auto left_top = hn::BitCast(d32, hn::InterleaveLower(d16, c01, c23));
  const auto left_bottom = hn::BitCast(d32, hn::InterleaveUpper(d16, c01, c23));
  const auto right_top = hn::BitCast(d32, hn::InterleaveLower(d16, c45, c67));
  const auto right_bottom = hn::BitCast(d32, hn::InterleaveUpper(d16, c45, c67));
  store_four_rows(hn::BitCast(d8, hn::InterleaveLower(d32, left_top, right_top)),
                  hn::BitCast(d8, hn::InterleaveUpper(d32, left_top, right_top)), samples, stride);
  store_four_rows(hn::BitCast(d8, hn::InterleaveLower(d32, left_bottom, right_bottom)),
                  hn::BitCast(d8, hn::InterleaveUpper(d32, left_bottom, right_bottom)), samples + 4 * stride, stride);
}

// ------------------------------------------------------------------------------------------------
// The bound

// Of each two columns.
HWY_INLINE bool are_quickly_in_range(const std::int16_t* block, const std::int16_t* limits) {
  const Tag16 d;
  const Tag32 d32;
  const auto row = [&](std::size_t y) HWY_ATTR {
    return pair_sums(hn::Abs(hn::Load(d, block + y * kGroupStride)), hn::Load(d, limits + y * kGroupStride));
  };
  const V32 sums = hn::Add(hn::Add(hn::Add(row(0), row(1)), hn::Add(row(2), row(3))),
                           hn::Add(hn::Add(row(4), row(5)), hn::Add(row(6), row(7))));
  return hn::AllFalse(d32, hn::Gt(sums, hn::Set(d32, kQuickLimit)));
}

// What was found so far among samples that are raised by 128 and not yet clamped.
struct Extremes {
  V16 lowest, highest;

  // Not by initialisers in the class: the constructor that the compiler would write has no attributes.
  HWY_INLINE Extremes() : lowest(hn::Zero(Tag16())), highest(hn::Zero(Tag16())) {}

  HWY_INLINE void add(const Eight<V16>& in) {
    lowest = hn::Min(hn::Min(lowest, least(in.v0, in.v1, in.v2, in.v3)), least(in.v4, in.v5, in.v6, in.v7));
    highest = hn::Max(hn::Max(highest, most(in.v0, in.v1, in.v2, in.v3)), most(in.v4, in.v5, in.v6, in.v7));
  }
  HWY_INLINE bool are_in_range() const {
    const Tag16 d;
    const auto below = hn::Lt(lowest, hn::Set(d, std::int16_t{kLowest + 128}));
    return hn::AllFalse(d, hn::Or(below, hn::Gt(highest, hn::Set(d, std::int16_t{kHighest + 128}))));
  }
  static HWY_INLINE V16 least(V16 a, V16 b, V16 c, V16 d) { return hn::Min(hn::Min(a, b), hn::Min(c, d)); }
  static HWY_INLINE V16 most(V16 a, V16 b, V16 c, V16 d) { return hn::Max(hn::Max(a, b), hn::Max(c, d)); }
};

HWY_NOINLINE bool are_in_range(const std::int16_t* block, const std::int16_t* steps) {
  bool all = true;
  for (std::size_t j = 0; j < kLanes; j += 8) all = is_within_range(block + j, steps + j) && all;
  return all;
}

// ------------------------------------------------------------------------------------------------

HWY_INLINE void clear_rows(std::int16_t* block) {
  const Tag16 d;
  for (std::size_t y = 0; y < 8; ++y) hn::Store(hn::Zero(d), d, block + y * kGroupStride);
}

// False: some block breaks the bound; `extremes` tell about others.
HWY_INLINE bool transform_blocks(std::int16_t* block, const std::int16_t* steps, const std::int16_t* limits,
                                 std::uint8_t* samples, std::size_t stride, Extremes& extremes) {
  bool is_good = are_quickly_in_range(block, limits);
  if (HWY_UNLIKELY(!is_good)) is_good = are_in_range(block, steps);
  const Eight<V16> in = dequantised(block, steps);
  clear_rows(block);
  const Eight<V16> rows = transposed(transformed<kColumnShift>(in, 0));
  const Eight<V16> columns = transformed<kRowShift>(rows, 128 << kRowShift);
  extremes.add(columns);
  store_samples(columns, samples, stride);
  return is_good;
}

// Blocks of first coefficients only: 4 d, then (4 d * 8192 + 2^17) >> 18.
HWY_INLINE bool transform_flat(std::int16_t* group, std::int32_t step, std::uint8_t* samples, std::size_t stride) {
  bool is_good = true;
  alignas(32) std::uint64_t row[kBlocksInGroup];
  for (std::size_t j = 0; j < kBlocksInGroup; ++j) {
    const std::int32_t value = (group[8 * j] * step + 4) >> 3;
    is_good &= value >= kLowest && value <= kHighest;
    const std::int32_t sample = value < -128 ? 0 : value > 127 ? 255 : value + 128;
    row[j] = static_cast<std::uint64_t>(sample) * 0x0101010101010101U;
    group[8 * j] = 0;
  }
  for (std::size_t y = 0; y < 8; ++y) __builtin_memcpy(samples + y * stride, row, sizeof row);
  return is_good;
}

bool transform(std::int16_t* groups, std::uint8_t* has_ac, std::size_t count, const IdctTable& table,
               std::uint8_t* samples, std::size_t stride) {
  bool is_good = true;
  Extremes extremes;
  for (std::size_t i = 0; i < count; ++i, groups += kGroupValues, samples += kGroupStride) {
    if (has_ac[i] == 0) {
      is_good &= transform_flat(groups, table.steps[0], samples, stride);
      continue;
    }
    for (std::size_t j = 0; j < kGroupStride; j += kLanes)
      is_good &= transform_blocks(groups + j, table.steps + j, table.limits + j, samples + j, stride, extremes);
    has_ac[i] = 0;
  }
  return is_good && extremes.are_in_range();
}

}  // namespace

extern const IdctKernels kIdctKernels;
const IdctKernels kIdctKernels{&transform};

}  // namespace penstock::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/image/simd_choice.h"

namespace penstock::image {

const IdctKernels& idct_kernels(Simd wanted) { return PENSTOCK_CHOOSE_KERNELS(wanted, kScalarIdct, kIdctKernels); }

}  // namespace penstock::image
#endif
