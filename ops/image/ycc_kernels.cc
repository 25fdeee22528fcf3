#include "ops/image/ycc_kernels.h"

#include "ops/image/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/image/ycc_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/image/pack_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::image::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Tag8 = hn::CappedTag<std::uint8_t, kSampleMargin>;
using Tag16 = hn::Repartition<std::int16_t, Tag8>;
using Tag32 = hn::Repartition<std::int32_t, Tag8>;
using V8 = hn::Vec<Tag8>;
using V16 = hn::Vec<Tag16>;
using V32 = hn::Vec<Tag32>;

constexpr std::size_t kLanes = hn::MaxLanes(Tag8());

// ------------------------------------------------------------------------------------------------
// Interleaving

#if HWY_TARGET == HWY_AVX3_DL  // permutations across blocks, which Highway 1.0.3 does not have for bytes

// For each of 3 x 64 bytes: of which pixel it is; the same in a table of reds and greens; where blue stands.
struct PixelOrder {
  alignas(64) std::uint8_t red_green[3][64];
  alignas(64) std::uint8_t pixel[3][64];
  std::uint64_t is_blue[3];
};

constexpr PixelOrder pixel_order() {
  PixelOrder order{};
  for (unsigned i = 0; i < 192; ++i) {
    order.pixel[i / 64][i % 64] = static_cast<std::uint8_t>(i / 3);
    order.red_green[i / 64][i % 64] = static_cast<std::uint8_t>(i / 3 + (i % 3 == 1 ? 64 : 0));
    if (i % 3 == 2) order.is_blue[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  return order;
}

constexpr PixelOrder kPixelOrder = pixel_order();

HWY_INLINE __m512i interleaved(V8 red, V8 green, V8 blue, int part) {
  const __m512i two = _mm512_permutex2var_epi8(red.raw, _mm512_load_si512(kPixelOrder.red_green[part]), green.raw);
  return _mm512_mask_permutexvar_epi8(two, kPixelOrder.is_blue[part], _mm512_load_si512(kPixelOrder.pixel[part]),
                                      blue.raw);
}

// The first `count` of 64 bytes.
HWY_INLINE __mmask64 first_bytes(std::size_t count) {
  return count >= 64 ? ~__mmask64{0} : _bzhi_u64(~0ULL, static_cast<unsigned>(count));
}

// The first `count` pixels.
HWY_INLINE void store_pixels(V8 red, V8 green, V8 blue, std::size_t count, std::uint8_t* out) {
  const __m512i a = interleaved(red, green, blue, 0), b = interleaved(red, green, blue, 1),
                c = interleaved(red, green, blue, 2);
  const std::size_t bytes = 3 * count;
  if (HWY_LIKELY(count >= kLanes)) {
    _mm512_storeu_si512(out, a);
    _mm512_storeu_si512(out + 64, b);
    _mm512_storeu_si512(out + 128, c);
    return;
  }
  _mm512_mask_storeu_epi8(out, first_bytes(bytes), a);
  if (bytes > 64) _mm512_mask_storeu_epi8(out + 64, first_bytes(bytes - 64), b);
  if (bytes > 128) _mm512_mask_storeu_epi8(out + 128, first_bytes(bytes - 128), c);
}

#else

HWY_INLINE void store_pixels(V8 red, V8 green, V8 blue, std::size_t count, std::uint8_t* out) {
  const Tag8 d;
  if (HWY_LIKELY(count >= kLanes)) return hn::StoreInterleaved3(red, green, blue, d, out);
  HWY_ALIGN std::uint8_t all[3 * kLanes];
  hn::StoreInterleaved3(red, green, blue, d, all);
  for (std::size_t k = 0; k < 3 * count; ++k) out[k] = all[k];
}

#endif

// ------------------------------------------------------------------------------------------------
// Colour: the scalar kernels' formulas, with factors brought into 16 bits.

struct Pixels {
  V16 red, green, blue;
};

// (-22554 * blue - 46802 * red + 2^15) >> 16, and -46802 = 18734 - 2^16.
HWY_INLINE V16 green_of(V16 blue, V16 red) {
  const Tag16 d;
  const Tag32 d32;
  const V16 weights = hn::BitCast(d, hn::Set(d32, 18734 << 16 | (-22554 & 0xffff)));
  const V32 half = hn::Set(d32, 1 << 15);
  const V32 low = hn::ShiftRight<16>(hn::Add(pair_sums(hn::InterleaveLower(d, blue, red), weights), half));
  const V32 high = hn::ShiftRight<16>(hn::Add(pair_sums(hn::InterleaveUpper(d, blue, red), weights), half));
  return hn::Sub(hn::ReorderDemote2To(d, low, high), red);
}

// MulFixedPoint15(a, b) is (a * b + 2^14) >> 15.
// Red: 91881 = 2^16 + 26345, and 13173 in place of 26345 / 2 gives the same for each red (YccKernelsTest shows it).
// Blue: 116130 = 2^17 - 2 * 7471.
HWY_INLINE Pixels colours_of(V16 y, V16 cb, V16 cr) {
  const Tag16 d;
  const V16 centre = hn::Set(d, std::int16_t{128});
  const V16 blue = hn::Sub(cb, centre), red = hn::Sub(cr, centre);
  const V16 red_part = hn::Add(hn::MulFixedPoint15(red, hn::Set(d, std::int16_t{13173})), red);
  const V16 blue_part = hn::Add(hn::MulFixedPoint15(blue, hn::Set(d, std::int16_t{-7471})), hn::Add(blue, blue));
  return {hn::Add(y, red_part), hn::Add(y, green_of(blue, red)), hn::Add(y, blue_part)};
}

HWY_INLINE V16 lower(V8 bytes) { return hn::BitCast(Tag16(), hn::InterleaveLower(Tag8(), bytes, hn::Zero(Tag8()))); }
HWY_INLINE V16 upper(V8 bytes) { return hn::BitCast(Tag16(), hn::InterleaveUpper(Tag8(), bytes, hn::Zero(Tag8()))); }

void rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t width, std::uint8_t* out) {
  const Tag8 d;
  for (std::size_t i = 0; i < width; i += kLanes) {
    const V8 ys = hn::LoadU(d, y + i), blues = hn::LoadU(d, cb + i), reds = hn::LoadU(d, cr + i);
    const Pixels low = colours_of(lower(ys), lower(blues), lower(reds));
    const Pixels high = colours_of(upper(ys), upper(blues), upper(reds));
    store_pixels(packed_bytes(low.red, high.red), packed_bytes(low.green, high.green),
                 packed_bytes(low.blue, high.blue), width - i, out + 3 * i);
  }
}

void grey(const std::uint8_t* y, std::size_t width, std::uint8_t* out) {
  const Tag8 d;
  for (std::size_t i = 0; i < width; i += kLanes) {
    const V8 ys = hn::LoadU(d, y + i);
    store_pixels(ys, ys, ys, width - i, out + 3 * i);
  }
}

// ------------------------------------------------------------------------------------------------
// Upsampling

using WideTag = hn::RebindToUnsigned<Tag16>;
using WV = hn::Vec<WideTag>;

constexpr std::size_t kWideLanes = hn::MaxLanes(WideTag());

HWY_INLINE WV widened(const std::uint8_t* from) {
  return hn::PromoteTo(WideTag(), hn::LoadU(hn::Rebind<std::uint8_t, WideTag>(), from));
}

HWY_INLINE WV three_and_one(WV nearer, WV farther) {
  return hn::Add(hn::Add(nearer, farther), hn::Add(nearer, nearer));
}

// Pairs of samples, `first` before `second`.
HWY_INLINE void store_pairs(WV first, WV second, std::uint8_t* out) {
  hn::StoreU(hn::BitCast(Tag8(), hn::Or(first, hn::ShiftLeft<8>(second))), Tag8(), out);
}

void double_across(const std::uint8_t* in, std::size_t width, std::uint8_t* out) {
  const WideTag d;
  const WV one = hn::Set(d, std::uint16_t{1}), two = hn::Set(d, std::uint16_t{2});
  for (std::size_t i = 0; i < width; i += kWideLanes) {
    const WV here = widened(in + i), before = widened(in + i - 1), behind = widened(in + i + 1);
    store_pairs(hn::ShiftRight<2>(hn::Add(three_and_one(here, before), one)),
                hn::ShiftRight<2>(hn::Add(three_and_one(here, behind), two)), out + 2 * i);
  }
}

void mix_rows(const std::uint8_t* nearer, const std::uint8_t* farther, std::size_t width, bool is_lower,
              std::uint8_t* out) {
  const Tag8 d;
  const V16 bias = hn::Set(Tag16(), static_cast<std::int16_t>(is_lower ? 2 : 1));
  for (std::size_t i = 0; i < width; i += kLanes) {
    const V8 near_bytes = hn::LoadU(d, nearer + i), far_bytes = hn::LoadU(d, farther + i);
    const V16 low_near = lower(near_bytes), high_near = upper(near_bytes);
    const V16 low = hn::Add(hn::Add(hn::Add(low_near, low_near), low_near), hn::Add(lower(far_bytes), bias));
    const V16 high = hn::Add(hn::Add(hn::Add(high_near, high_near), high_near), hn::Add(upper(far_bytes), bias));
    hn::StoreU(packed_bytes(hn::ShiftRight<2>(low), hn::ShiftRight<2>(high)), d, out + i);
  }
}

void double_both(const std::uint8_t* nearer, const std::uint8_t* farther, std::size_t width, std::uint8_t* out) {
  const WideTag d;
  const WV eight = hn::Set(d, std::uint16_t{8}), seven = hn::Set(d, std::uint16_t{7});
  for (std::size_t i = 0; i < width; i += kWideLanes) {
    const WV here = three_and_one(widened(nearer + i), widened(farther + i));
    const WV before = three_and_one(widened(nearer + i - 1), widened(farther + i - 1));
    const WV behind = three_and_one(widened(nearer + i + 1), widened(farther + i + 1));
    store_pairs(hn::ShiftRight<4>(hn::Add(three_and_one(here, before), eight)),
                hn::ShiftRight<4>(hn::Add(three_and_one(here, behind), seven)), out + 2 * i);
  }
}

}  // namespace

extern const YccKernels kYccKernels;
const YccKernels kYccKernels{&rgb, &grey, &double_across, &mix_rows, &double_both};

}  // namespace penstock::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/image/simd_choice.h"

namespace penstock::image {

const YccKernels& ycc_kernels(Simd wanted) { return PENSTOCK_CHOOSE_KERNELS(wanted, kScalarYcc, kYccKernels); }

}  // namespace penstock::image
#endif
