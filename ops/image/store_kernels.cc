#include "ops/image/store_kernels.h"

#include "ops/image/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/image/store_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/image/convert_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::image::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using detail::NormaliserPattern;
using detail::NormaliserTables;

// Work goes by blocks of 16 pixels, of 48 values.
constexpr std::size_t kPixels = 16;
constexpr std::size_t kValues = 48;

using BlockTag = hn::FixedTag<std::uint8_t, 16>;
using FloatTag = hn::CappedTag<float, 16>;

template <class V, class To> HWY_INLINE void put(V values, To* to, bool stream) {
  const hn::DFromV<V> d;
  // Highway streams 16 bytes of a vector of 8.
  if constexpr (hn::MaxLanes(d) * sizeof(To) >= 16)
    if (stream) return hn::Stream(values, d, to);
  hn::StoreU(values, d, to);
}

// Each type's bits, from values that are not NaN.
struct AsF32 {
  using Value = float;
  template <class V> HWY_INLINE void operator()(V values, Value* to, bool stream) const { put(values, to, stream); }
};
struct AsF16 {
  using Value = std::uint16_t;
  template <class V> HWY_INLINE void operator()(V values, Value* to, bool stream) const {
    const hn::DFromV<V> d;
    const hn::Rebind<std::uint16_t, decltype(d)> d16;
#if defined(__x86_64__) && HWY_TARGET <= HWY_AVX2  // rounds to the nearest
    put(hn::BitCast(d16, hn::DemoteTo(hn::Rebind<hwy::float16_t, decltype(d)>(), values)), to, stream);
#else
    put(hn::DemoteTo(d16, hn::BitCast(hn::RebindToSigned<decltype(d)>(), f16_bits(d, values))), to, stream);
#endif
  }
};
struct AsBf16 {
  using Value = std::uint16_t;
  template <class V> HWY_INLINE void operator()(V values, Value* to, bool stream) const {
    const hn::DFromV<V> d;
    const auto bits = rounded_shift<16>(hn::BitCast(hn::RebindToUnsigned<decltype(d)>(), values));
    put(hn::DemoteTo(hn::Rebind<std::uint16_t, decltype(d)>(), hn::BitCast(hn::RebindToSigned<decltype(d)>(), bits)),
        to, stream);
  }
};

// (bytes * scale - mean) / deviation. Without kDivide the quotient is the product with the reciprocal, corrected by
// what it leaves; NormaliserTables says where that is the same.
template <bool kDivide, class V>
HWY_INLINE V normalised(V values, V scale, const NormaliserPattern& pattern, std::size_t i) {
  const hn::DFromV<V> d;
  const auto shifted = hn::Sub(hn::Mul(values, scale), hn::Load(d, pattern.mean + i));
  const auto deviation = hn::Load(d, pattern.deviation + i);
  if constexpr (kDivide) return hn::Div(shifted, deviation);
  const auto reciprocal = hn::Load(d, pattern.reciprocal + i);
  const auto quotient = hn::Mul(shifted, reciprocal);
  return hn::MulAdd(hn::NegMulAdd(quotient, deviation, shifted), reciprocal, quotient);
}

using IntTag = hn::RebindToSigned<FloatTag>;

// A block's bytes as numbers, in the order in which they lie.
struct Interleaved {
  const std::uint8_t* from;

  HWY_INLINE explicit Interleaved(const std::uint8_t* block) : from(block) {}

  HWY_INLINE hn::Vec<IntTag> operator()(std::size_t i) const {
    return hn::PromoteTo(IntTag(), hn::LoadU(hn::Rebind<std::uint8_t, FloatTag>(), from + i));
  }
};

template <bool kDivide, class As, class Numbers, class At>
HWY_INLINE void store_block(const Numbers& numbers, float scale, const NormaliserPattern& pattern, const At& at,
                            bool stream) {
  const FloatTag d;
  for (std::size_t i = 0; i < kValues; i += hn::Lanes(d)) {
    const auto values = hn::ConvertTo(d, numbers(i));
    As()(normalised<kDivide>(values, hn::Set(d, scale), pattern, i), at(i), stream);
  }
}

// The 16 reds of a block, its greens, its blues.
HWY_INLINE void to_planes(const std::uint8_t* from, std::uint8_t* to) {
  const BlockTag d;
  hn::Vec<BlockTag> red, green, blue;
  hn::LoadInterleaved3(d, from, red, green, blue);
  hn::StoreU(red, d, to);
  hn::StoreU(green, d, to + 16);
  hn::StoreU(blue, d, to + 32);
}

// A block's bytes as numbers, colour by colour.
#if HWY_TARGET == HWY_AVX3_DL  // one permutation across blocks for each, which Highway 1.0.3 does not have
HWY_ALIGN constexpr std::int32_t kThirds[16] = {0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45};

struct Planes {
  __m512i block;

  HWY_INLINE explicit Planes(const std::uint8_t* from)
      : block(_mm512_maskz_loadu_epi8((__mmask64{1} << kValues) - 1, from)) {}

  HWY_INLINE hn::Vec<IntTag> operator()(std::size_t i) const {
    const auto colour = hn::Set(IntTag(), static_cast<std::int32_t>(i / kPixels));
    const auto index = hn::Add(hn::Load(IntTag(), kThirds), colour);
    return hn::Vec<IntTag>{_mm512_maskz_permutexvar_epi8(0x1111111111111111, index.raw, block)};
  }
};
#else
struct Planes {
  HWY_ALIGN std::uint8_t colours[kValues];

  HWY_INLINE explicit Planes(const std::uint8_t* from) { to_planes(from, colours); }

  HWY_INLINE hn::Vec<IntTag> operator()(std::size_t i) const { return Interleaved(colours)(i); }
};
#endif

template <class Value> HWY_INLINE void copy(const Value* from, Value* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
}

template <bool kDivide, class As>
HWY_INLINE void store_interleaved(const NormaliserTables& how, typename As::Value* to, const std::uint8_t* row,
                                  std::size_t width, bool stream) {
  using Value = typename As::Value;
  std::size_t x = 0;
  for (; x + kPixels <= width; x += kPixels)
    store_block<kDivide, As>(
        Interleaved(row + 3 * x), how.scale, how.interleaved, [&](std::size_t i) { return to + 3 * x + i; }, stream);
  if (x == width) return;
  HWY_ALIGN std::uint8_t rest[kValues] = {};
  HWY_ALIGN Value values[kValues];
  copy(row + 3 * x, rest, 3 * (width - x));
  store_block<kDivide, As>(
      Interleaved(rest), how.scale, how.interleaved, [&](std::size_t i) { return values + i; }, false);
  copy(values, to + 3 * x, 3 * (width - x));
}

template <bool kDivide, class As>
HWY_INLINE void store_planes(const NormaliserTables& how, typename As::Value* to, std::size_t plane,
                             const std::uint8_t* row, std::size_t width, bool stream) {
  using Value = typename As::Value;
  std::size_t x = 0;
  for (; x + kPixels <= width; x += kPixels)
    store_block<kDivide, As>(
        Planes(row + 3 * x), how.scale, how.planes,
        [&](std::size_t i) { return to + i / kPixels * plane + x + i % kPixels; }, stream);
  if (x == width) return;
  HWY_ALIGN std::uint8_t rest[kValues] = {};
  HWY_ALIGN Value values[kValues];
  copy(row + 3 * x, rest, 3 * (width - x));
  store_block<kDivide, As>(
      Planes(rest), how.scale, how.planes, [&](std::size_t i) { return values + i; }, false);
  for (std::size_t c = 0; c < 3; ++c) copy(values + 16 * c, to + c * plane + x, width - x);
}

template <bool kDivide, class As>
void store_values(const NormaliserTables& how, const RowTarget& to, const std::uint8_t* row, std::size_t width,
                  bool stream) {
  auto* const values = reinterpret_cast<typename As::Value*>(to.at);
  if (to.layout == Layout::nhwc) return store_interleaved<kDivide, As>(how, values, row, width, stream);
  store_planes<kDivide, As>(how, values, to.plane, row, width, stream);
}

template <class As>
void store_as(const NormaliserTables& how, const RowTarget& to, const std::uint8_t* row, std::size_t width) {
  const std::size_t plane_bytes = to.layout == Layout::nchw ? to.plane * sizeof(typename As::Value) : 0;
  const bool stream = to.stream && (reinterpret_cast<std::uintptr_t>(to.at) | plane_bytes) % 64 == 0;
#if HWY_NATIVE_FMA
  if (how.corrects_exactly) return store_values<false, As>(how, to, row, width, stream);
#endif
  store_values<true, As>(how, to, row, width, stream);
}

void store_byte_row(const RowTarget& to, const std::uint8_t* row, std::size_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  auto* const out = reinterpret_cast<std::uint8_t*>(to.at);
  const bool stream = to.stream && reinterpret_cast<std::uintptr_t>(out) % 64 == 0;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= bytes; i += hn::Lanes(d)) put(hn::LoadU(d, row + i), out + i, stream);
  copy(row + i, out + i, bytes - i);
}

void store_byte_planes(const RowTarget& to, const std::uint8_t* row, std::size_t width) {
  auto* const out = reinterpret_cast<std::uint8_t*>(to.at);
  HWY_ALIGN std::uint8_t colours[kValues];
  HWY_ALIGN std::uint8_t rest[kValues] = {};
  for (std::size_t x = 0; x < width; x += kPixels) {
    const std::size_t count = width - x < kPixels ? width - x : kPixels;
    if (count < kPixels) copy(row + 3 * x, rest, 3 * count);
    to_planes(count < kPixels ? rest : row + 3 * x, colours);
    for (std::size_t c = 0; c < 3; ++c) copy(colours + 16 * c, out + c * to.plane + x, count);
  }
}

void store(const NormaliserTables& how, const RowTarget& to, const std::uint8_t* row, std::size_t width) {
  switch (to.type) {
    case DType::f32: return store_as<AsF32>(how, to, row, width);
#if HWY_TARGET == HWY_SSE4  // no instruction rounds to f16, and looking up is faster than doing it by hand
    case DType::f16: return kScalarStore.store(how, to, row, width);
#else
    case DType::f16: return store_as<AsF16>(how, to, row, width);
#endif
    case DType::bf16: return store_as<AsBf16>(how, to, row, width);
    default: return to.layout == Layout::nhwc ? store_byte_row(to, row, 3 * width) : store_byte_planes(to, row, width);
  }
}

HWY_ALIGN constexpr std::uint8_t kFivePixelsBack[16] = {12, 13, 14, 9, 10, 11, 6, 7, 8, 3, 4, 5, 0, 1, 2, 15};

// Five pixels are 15 bytes of a vector: the 16th that is read belongs to the pixel before, the one that is written to
// the next.
void mirror(const std::uint8_t* row, std::size_t width, std::uint8_t* to) {
  const BlockTag d;
  const auto one = [&](std::size_t x) { copy(row + 3 * (width - 1 - x), to + 3 * x, 3); };
  if (width == 0) return;
  one(0);
  std::size_t x = 1;
  for (; x + 6 <= width; x += 5)
    hn::StoreU(hn::TableLookupBytes(hn::LoadU(d, row + 3 * (width - 5 - x)), hn::Load(d, kFivePixelsBack)), d,
               to + 3 * x);
  for (; x < width; ++x) one(x);
}

}  // namespace

extern const StoreKernels kStoreKernels;
const StoreKernels kStoreKernels{&store, &mirror};

}  // namespace penstock::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/image/simd_choice.h"

namespace penstock::image {

const StoreKernels& store_kernels(Simd wanted) { return PENSTOCK_CHOOSE_KERNELS(wanted, kScalarStore, kStoreKernels); }

}  // namespace penstock::image
#endif
