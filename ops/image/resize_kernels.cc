#include "ops/image/resize_kernels.h"

#include "ops/image/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/image/resize_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/image/resize_vnni.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::image::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kLowBits = 11;  // of a weight: Packing::pairs

// Sums of high and of low parts of weights, with what Highway needs where pairs are not added at once.
template <class D32> class Sums {
 public:
  using V = hn::Vec<D32>;
  HWY_INLINE explicit Sums(D32 d)
      : high_(hn::Zero(d)), low_(hn::Set(d, 1 << (kWeightBits - 1))), more_high_(hn::Zero(d)), more_low_(hn::Zero(d)) {}

  template <class V16> HWY_INLINE void add(D32 d, V16 values, V16 high, V16 low) {
    high_ = hn::ReorderWidenMulAccumulate(d, values, high, high_, more_high_);
    low_ = hn::ReorderWidenMulAccumulate(d, values, low, low_, more_low_);
  }

  // The sum without its fixed point, not yet clipped to a byte.
  HWY_INLINE V whole() const {
    const V high = hn::RearrangeToOddPlusEven(high_, more_high_);
    const V low = hn::RearrangeToOddPlusEven(low_, more_low_);
    return hn::ShiftRight<kWeightBits>(hn::Add(hn::ShiftLeft<kLowBits>(high), low));
  }

 private:
  V high_, low_, more_high_, more_low_;
};

// Four vectors of 32-bit numbers to bytes: in each block of 16 bytes those of the first two, each followed by that of
// the other two.
template <class V32> HWY_INLINE auto to_mixed_bytes(V32 a, V32 b, V32 c, V32 e) {
  const hn::Repartition<std::int16_t, hn::DFromV<V32>> d16;
  const hn::RebindToUnsigned<decltype(d16)> du16;
  const hn::Repartition<std::uint8_t, decltype(d16)> d8;
  const auto clip = [&](auto v)
                        HWY_ATTR { return hn::Min(hn::Max(v, hn::Zero(d16)), hn::Set(d16, std::int16_t{255})); };
  const auto first = hn::BitCast(du16, clip(hn::ReorderDemote2To(d16, a, b)));
  const auto second = hn::BitCast(du16, clip(hn::ReorderDemote2To(d16, c, e)));
  return hn::BitCast(d8, hn::Or(first, hn::ShiftLeft<8>(second)));
}

// ------------------------------------------------------------------------------------------------
// Along a row: a block of 16 bytes is four taps of one pixel, in vectors of two blocks for two rows.

using RowTag = hn::CappedTag<std::uint8_t, 32>;
using BlockTag = hn::FixedTag<std::uint8_t, 16>;

constexpr std::uint8_t kNone = 0x80;

HWY_ALIGN constexpr std::uint8_t kFirstTwoTaps[16] = {0, kNone, 3, kNone, 1,     kNone, 4,     kNone,
                                                      2, kNone, 5, kNone, kNone, kNone, kNone, kNone};
HWY_ALIGN constexpr std::uint8_t kNextTwoTaps[16] = {6, kNone, 9,  kNone, 7,     kNone, 10,    kNone,
                                                     8, kNone, 11, kNone, kNone, kNone, kNone, kNone};
HWY_ALIGN constexpr std::uint8_t kFourPixels[16] = {0, 2, 4, 8, 10, 12, 1, 3, 5, 9, 11, 13, kNone, kNone, kNone, kNone};

// 16 bytes of a row that has room for them, or what it has of them.
struct WholeLoads {
  HWY_INLINE hn::Vec<BlockTag> operator()(const std::uint8_t* row, std::size_t at) const {
    return hn::LoadU(BlockTag(), row + at);
  }
};
struct CheckedLoads {
  std::size_t bytes;
  HWY_INLINE hn::Vec<BlockTag> operator()(const std::uint8_t* row, std::size_t at) const {
    HWY_ALIGN std::uint8_t block[16] = {};
    const std::size_t count = at >= bytes ? 0 : bytes - at < 16 ? bytes - at : 16;
    for (std::size_t i = 0; i < count; ++i) block[i] = row[at + i];
    return hn::Load(BlockTag(), block);
  }
};

template <class Loads>
HWY_INLINE hn::Vec<RowTag> load_rows(const Loads& load, const std::uint8_t* const* from, std::size_t at) {
#if HWY_MAX_BYTES == 16
  return load(from[0], at);
#else
  return hn::Combine(RowTag(), load(from[1], at), load(from[0], at));
#endif
}

HWY_INLINE void store_rows(hn::Vec<RowTag> bytes, std::uint8_t* const* to, std::size_t at) {
#if HWY_MAX_BYTES == 16
  hn::StoreU(bytes, BlockTag(), to[0] + at);
#else
  hn::StoreU(hn::LowerHalf(BlockTag(), bytes), BlockTag(), to[0] + at);
  hn::StoreU(hn::UpperHalf(BlockTag(), bytes), BlockTag(), to[1] + at);
#endif
}

constexpr std::size_t kRowsInVector = hn::MaxLanes(RowTag()) / 16;

// One pixel of the rows in a vector: red, green, blue and nothing in each block.
template <class Loads>
HWY_INLINE auto resize_pixel(const ResizePlan& plan, const Loads& load, const std::uint8_t* const* from,
                             std::size_t pixel) {
  const RowTag d8;
  const hn::Repartition<std::int16_t, RowTag> d16;
  const hn::Repartition<std::int32_t, RowTag> d32;
  const auto first_two = hn::LoadDup128(d8, kFirstTwoTaps), next_two = hn::LoadDup128(d8, kNextTwoTaps);
  const std::size_t quads = plan.column_quads;
  const std::int32_t* weights = plan.column_weights + pixel * quads * 4;
  auto at = static_cast<std::size_t>(plan.spans[pixel].begin) * 3;
  Sums<decltype(d32)> sums(d32);
  for (std::size_t quad = 0; quad < quads; ++quad, weights += 4, at += 12) {
    const auto block = load_rows(load, from, at);
    const auto weight = [&](int i) HWY_ATTR { return hn::BitCast(d16, hn::Set(d32, weights[i])); };
    sums.add(d32, hn::BitCast(d16, hn::TableLookupBytesOr0(block, first_two)), weight(0), weight(2));
    sums.add(d32, hn::BitCast(d16, hn::TableLookupBytesOr0(block, next_two)), weight(1), weight(3));
  }
  return sums.whole();
}

template <class Loads>
HWY_INLINE void resize_four_pixels(const ResizePlan& plan, const Loads& load, const std::uint8_t* const* from,
                                   std::size_t first, std::uint8_t* const* to) {
  const std::size_t last = plan.pixels - 1;
  const auto pixel = [&](std::size_t i)
                         HWY_ATTR { return resize_pixel(plan, load, from, first + i < last ? first + i : last); };
  const auto a = pixel(0), b = pixel(1), c = pixel(2), e = pixel(3);
  store_rows(hn::TableLookupBytesOr0(to_mixed_bytes(a, b, c, e), hn::LoadDup128(RowTag(), kFourPixels)), to, first * 3);
}

// How many pixels, from the left, may load whole blocks.
HWY_INLINE std::size_t pixels_with_whole_loads(const ResizePlan& plan, std::size_t bytes) {
  const std::size_t reach = 12 * plan.column_quads + 4;
  std::size_t count = plan.pixels;
  while (count > 0 && static_cast<std::size_t>(plan.spans[count - 1].begin) * 3 + reach > bytes) --count;
  return count;
}

void resize_rows_by_pairs(const ResizePlan& plan, const std::uint8_t* const* from, std::size_t bytes,
                          std::uint8_t* const* to) {
  const std::size_t pixels = plan.pixels;
  const std::size_t whole = pixels_with_whole_loads(plan, bytes) / 4 * 4;
  for (std::size_t row = 0; row < kRowsAtOnce; row += kRowsInVector) {
    const std::uint8_t* const* rows = from + row;
    std::uint8_t* const* targets = to + row;
    std::size_t x = 0;
    for (; x < whole; x += 4) resize_four_pixels(plan, WholeLoads(), rows, x, targets);
    for (; x < pixels; x += 4) resize_four_pixels(plan, CheckedLoads{bytes}, rows, x, targets);
  }
}

// ------------------------------------------------------------------------------------------------
// Across rows: whole vectors of each.

HWY_ALIGN constexpr std::uint8_t kUnmix[16] = {0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15};

template <class D8>
HWY_INLINE hn::Vec<D8> resize_column_vector(D8 d8, const std::uint8_t* const* from, std::size_t at,
                                            const std::int32_t* weights, std::size_t quads) {
  const hn::Repartition<std::int16_t, D8> d16;
  const hn::Repartition<std::int32_t, D8> d32;
  const auto zero = hn::Zero(d8);
  Sums<decltype(d32)> s0(d32), s1(d32), s2(d32), s3(d32);
  for (std::size_t quad = 0; quad < quads; ++quad, weights += 4, from += 4)
    for (std::size_t pair = 0; pair < 2; ++pair) {
      const auto first = hn::LoadU(d8, from[2 * pair] + at), second = hn::LoadU(d8, from[2 * pair + 1] + at);
      const auto lower = hn::InterleaveLower(d8, first, second), upper = hn::InterleaveUpper(d8, first, second);
      const auto high = hn::BitCast(d16, hn::Set(d32, weights[pair])),
                 low = hn::BitCast(d16, hn::Set(d32, weights[2 + pair]));
      s0.add(d32, hn::BitCast(d16, hn::InterleaveLower(d8, lower, zero)), high, low);
      s1.add(d32, hn::BitCast(d16, hn::InterleaveUpper(d8, lower, zero)), high, low);
      s2.add(d32, hn::BitCast(d16, hn::InterleaveLower(d8, upper, zero)), high, low);
      s3.add(d32, hn::BitCast(d16, hn::InterleaveUpper(d8, upper, zero)), high, low);
    }
  return hn::TableLookupBytes(to_mixed_bytes(s0.whole(), s1.whole(), s2.whole(), s3.whole()),
                              hn::LoadDup128(d8, kUnmix));
}

void resize_columns_by_pairs(const ResizePlan& plan, std::size_t i, const std::uint8_t* const* from, std::size_t bytes,
                             std::uint8_t* to) {
  const hn::ScalableTag<std::uint8_t> d8;
  const std::size_t lanes = hn::Lanes(d8), quads = plan.row_quads;
  if (bytes < lanes) return kScalarResize.resize_columns(plan, i, from, bytes, to);
  const std::int32_t* const weights = plan.row_weights + i * quads * 4;
  for (std::size_t x = 0; x < bytes; x += lanes) {
    const std::size_t at = x + lanes <= bytes ? x : bytes - lanes;  // the last one overlaps
    hn::StoreU(resize_column_vector(d8, from, at, weights, quads), d8, to + at);
  }
}

#if HWY_TARGET == HWY_AVX3_DL
void resize_rows_by_digits(const ResizePlan& plan, const std::uint8_t* const* from, std::size_t bytes,
                           std::uint8_t* const* to) {
  if (plan.gathered == 0) return resize_rows_by_pairs(plan, from, bytes, to);
  resize_gathered(plan, from, bytes, to);
}
#endif

}  // namespace

extern const ResizeKernels kResizeKernels;
#if HWY_TARGET == HWY_AVX3_DL
const ResizeKernels kResizeKernels{Packing::digits, &resize_rows_by_digits, &resize_columns_by_digits};
#else
const ResizeKernels kResizeKernels{Packing::pairs, &resize_rows_by_pairs, &resize_columns_by_pairs};
#endif

}  // namespace penstock::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/image/simd_choice.h"

namespace penstock::image {

const ResizeKernels& resize_kernels(Simd wanted) {
  return PENSTOCK_CHOOSE_KERNELS(wanted, kScalarResize, kResizeKernels);
}

}  // namespace penstock::image
#endif
