// Never hn::MulAdd: each operation rounds, as in TensorFlow's kernel.
#include "ops/image/crop_kernels.h"

#include "ops/image/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/image/crop_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/image/convert_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::image::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class V> HWY_INLINE V mixed(V a, V b, V fraction) { return hn::Add(a, hn::Mul(hn::Sub(b, a), fraction)); }

// ---- Along x, for all instruction sets: 128 bits at a time, or 256.

const hn::FixedTag<std::uint8_t, 16> kBlock;

struct Block16 {
  HWY_INLINE hn::Vec<hn::FixedTag<std::uint8_t, 16>> operator()(const std::uint8_t* row, const std::int32_t* begin,
                                                                std::size_t block) const {
    return hn::LoadU(kBlock, row + begin[block]);
  }
};

struct BlockOfTwoPixels {
  HWY_INLINE hn::Vec<hn::FixedTag<std::uint8_t, 16>> operator()(const std::uint8_t* row, const std::int32_t* begin,
                                                                std::size_t block) const {
    const hn::FixedTag<std::uint8_t, 8> half;
    return hn::Combine(kBlock, hn::LoadU(half, row + begin[2 * block + 1]), hn::LoadU(half, row + begin[2 * block]));
  }
};

#if HWY_CAP_GE256
constexpr std::size_t kBlocks = 2;
#else
constexpr std::size_t kBlocks = 1;
#endif

template <class Block>
HWY_INLINE hn::Vec<hn::FixedTag<std::uint8_t, 16 * kBlocks>> gathered(const Block& block, const std::uint8_t* row,
                                                                      const std::int32_t* begin, std::size_t first) {
#if HWY_CAP_GE256
  return hn::Combine(hn::FixedTag<std::uint8_t, 32>(), block(row, begin, first + 1), block(row, begin, first));
#else
  return block(row, begin, first);
#endif
}

template <class Bytes>
HWY_INLINE hn::Vec<hn::FixedTag<float, 4 * kBlocks>> values_of(Bytes bytes, const std::uint32_t* which) {
  const hn::FixedTag<std::uint32_t, 4 * kBlocks> du;
  const hn::RebindToSigned<decltype(du)> di;
  const auto wide = hn::TableLookupBytesOr0(bytes, hn::BitCast(hn::DFromV<Bytes>(), hn::Load(du, which)));
  return hn::ConvertTo(hn::FixedTag<float, 4 * kBlocks>(), hn::BitCast(di, wide));
}

template <class Block> void mix_blocks(const std::uint8_t* row, const CropColumns& columns, float* to) {
  const hn::FixedTag<float, 4 * kBlocks> d;
  const CropColumns table = columns;  // a copy, which `to` cannot overlap
  for (std::size_t i = 0; i < table.values; i += 4 * kBlocks) {
    const auto bytes = gathered(Block(), row, table.begin, i / 4);
    const auto left = values_of(bytes, table.left_byte + i);
    const auto right = values_of(bytes, table.right_byte + i);
    hn::Store(mixed(left, right, hn::Load(d, table.value_fraction + i)), d, to + i);
  }
}

// ---- Along x with AVX-512's permutation of 64 or 128 bytes.

#if HWY_TARGET == HWY_AVX3_DL

constexpr __mmask64 kLowBytes = 0x1111111111111111;

struct Window64 {
  __m512i bytes;
  HWY_INLINE explicit Window64(const std::uint8_t* from) : bytes(_mm512_loadu_si512(from)) {}
  HWY_INLINE __m512i permuted(__m512i which) const { return _mm512_maskz_permutexvar_epi8(kLowBytes, which, bytes); }
};

struct Window128 {
  __m512i low, high;
  HWY_INLINE explicit Window128(const std::uint8_t* from)
      : low(_mm512_loadu_si512(from)), high(_mm512_loadu_si512(from + 64)) {}
  HWY_INLINE __m512i permuted(__m512i which) const {
    return _mm512_maskz_permutex2var_epi8(kLowBytes, low, which, high);
  }
};

template <class Window> void mix_windows(const std::uint8_t* row, const CropColumns& columns, float* to) {
  const CropColumns table = columns;
  for (std::size_t i = 0; i < table.values; i += 16) {
    const Window window(row + table.begin[i / 16]);
    const __m512 left = _mm512_cvtepi32_ps(window.permuted(_mm512_load_si512(table.left_byte + i)));
    const __m512 right = _mm512_cvtepi32_ps(window.permuted(_mm512_load_si512(table.right_byte + i)));
    const __m512 fraction = _mm512_load_ps(table.value_fraction + i);
    _mm512_store_ps(to + i, _mm512_add_ps(left, _mm512_mul_ps(_mm512_sub_ps(right, left), fraction)));
  }
}

#endif

void to_planes_all(const float* interleaved, std::size_t plane, float* planes) {
  const hn::ScalableTag<float> d;
  for (std::size_t x = 0; x < plane; x += hn::Lanes(d)) {
    hn::Vec<decltype(d)> red, green, blue;
    hn::LoadInterleaved3(d, interleaved + 3 * x, red, green, blue);
    hn::Store(red, d, planes + x);
    hn::Store(green, d, planes + plane + x);
    hn::Store(blue, d, planes + 2 * plane + x);
  }
}

// ---- Along y, into the output's type.

struct ToF32 {
  using Value = float;
  template <class V> static HWY_INLINE V from(V value) { return value; }
};

// Mixed pixels are never NaN, and without a normaliser they lie between -0.5 and 255.5; this spares most of
// convert_lanes.h.
struct ToF16 {
  using Value = std::uint16_t;
  template <class V> static HWY_INLINE auto from(V value) {
    const hn::DFromV<V> d;
    const hn::Rebind<std::uint16_t, decltype(d)> to;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3_DL
    return hn::BitCast(to, hn::DemoteTo(hn::Rebind<hwy::float16_t, decltype(d)>(), value));
#else
    return hn::DemoteTo(to, hn::BitCast(hn::RebindToSigned<decltype(d)>(), f16_bits(d, value)));
#endif
  }
};

struct ToBf16 {
  using Value = std::uint16_t;
  template <class V> static HWY_INLINE auto from(V value) {
    const hn::DFromV<V> d;
    const auto bits = rounded_shift<16>(hn::BitCast(hn::RebindToUnsigned<decltype(d)>(), value));
    return hn::DemoteTo(hn::Rebind<std::uint16_t, decltype(d)>(), hn::BitCast(hn::RebindToSigned<decltype(d)>(), bits));
  }
};

struct ToU8 {
  using Value = std::uint8_t;
  template <class V> static HWY_INLINE auto from(V value) {
#if HWY_TARGET == HWY_AVX3_DL
    // One instruction instead of three.
    return hn::Vec<hn::FixedTag<std::uint8_t, 16>>{_mm512_cvtusepi32_epi8(hn::NearestInt(value).raw)};
#else
    return hn::DemoteTo(hn::Rebind<std::uint8_t, hn::DFromV<V>>(), hn::NearestInt(value));
#endif
  }
};

template <class To, bool kNormalise> HWY_INLINE auto value_at(const RowPair& rows, std::size_t i) {
  const hn::ScalableTag<float> d;
  auto value = mixed(hn::LoadU(d, rows.top + i), hn::LoadU(d, rows.bottom + i), hn::Set(d, rows.fraction));
  if constexpr (kNormalise) {
    const auto scaled = hn::Mul(value, hn::Set(d, static_cast<float>(1.0 / 255.0)));
    value = hn::Div(hn::Sub(scaled, hn::LoadU(d, rows.mean + i)), hn::LoadU(d, rows.deviation + i));
  }
  return To::from(value);
}

template <class V, class To> HWY_INLINE void store_some(V vector, To* to, std::size_t count) {
  const hn::DFromV<V> d;
  HWY_ALIGN To all[hn::MaxLanes(d)];
  hn::Store(vector, d, all);
  for (std::size_t k = 0; k < count; ++k) to[k] = all[k];
}

// How many values of `to` lie before the first whole vector. A vector shorter than 16 bytes cannot be streamed.
template <class To> HWY_INLINE std::size_t values_before_stream(const typename To::Value* to, std::size_t lanes) {
  const std::size_t bytes = lanes * sizeof(typename To::Value);
  return (bytes - reinterpret_cast<std::uintptr_t>(to) % bytes) % bytes / sizeof(typename To::Value);
}

// Ends that are no whole vectors are written by a vector that overlaps the next one.
template <class To, bool kNormalise, bool kStream>
HWY_INLINE void store_values(const RowPair& rows, typename To::Value* to, std::size_t count) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<typename To::Value, decltype(d)> narrow;
  const std::size_t lanes = hn::Lanes(d);
  if (count < lanes) return store_some(value_at<To, kNormalise>(rows, 0), to, count);
  std::size_t i = 0;
  if constexpr (kStream) {
    i = values_before_stream<To>(to, lanes);
    if (i > 0) hn::StoreU(value_at<To, kNormalise>(rows, 0), narrow, to);
    for (; i + lanes <= count; i += lanes) hn::Stream(value_at<To, kNormalise>(rows, i), narrow, to + i);
  } else {
    for (; i + lanes <= count; i += lanes) hn::StoreU(value_at<To, kNormalise>(rows, i), narrow, to + i);
  }
  if (i < count) hn::StoreU(value_at<To, kNormalise>(rows, count - lanes), narrow, to + count - lanes);
}

template <class To, bool kStream>
HWY_INLINE void store_either(const RowPair& rows, typename To::Value* to, std::size_t count) {
  if (rows.mean) return store_values<To, true, kStream>(rows, to, count);
  store_values<To, false, kStream>(rows, to, count);
}

template <class To> void store(RowPair rows, void* memory, std::size_t count, bool stream) {
  auto* const to = static_cast<typename To::Value*>(memory);
  constexpr bool kCanStream = hn::MaxLanes(hn::ScalableTag<float>()) * sizeof(typename To::Value) >= 16;
  if constexpr (kCanStream)
    if (stream) return store_either<To, true>(rows, to, count);
  store_either<To, false>(rows, to, count);
}

}  // namespace

extern const CropKernels kCropKernels;
const CropKernels kCropKernels{{&mix_columns_one_by_one, &mix_blocks<BlockOfTwoPixels>, &mix_blocks<Block16>,
#if HWY_TARGET == HWY_AVX3_DL
                                &mix_windows<Window64>, &mix_windows<Window128>},
#else
                                nullptr, nullptr},
#endif
                               &to_planes_all,
                               &store<ToF32>,
                               &store<ToF16>,
                               &store<ToBf16>,
                               &store<ToU8>};

}  // namespace penstock::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/image/simd_choice.h"

namespace penstock::image {

const CropKernels& crop_kernels(Simd wanted) { return PENSTOCK_CHOOSE_KERNELS(wanted, kScalarCrop, kCropKernels); }

}  // namespace penstock::image
#endif
