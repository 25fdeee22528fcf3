// 16-bit lanes to bytes within each block of 16 bytes, and sums of products of pairs: what Highway 1.0.3 has no name
// for. Part of a file of SIMD kernels, hence without #pragma once but with Highway's toggle.
#if defined(PENSTOCK_PACK_LANES) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_PACK_LANES
#undef PENSTOCK_PACK_LANES
#else
#define PENSTOCK_PACK_LANES
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::image::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// In each block the lanes of `low`, then those of `high`, clamped to 0 .. 255.
template <class V> HWY_INLINE hn::Vec<hn::Repartition<std::uint8_t, hn::DFromV<V>>> packed_bytes(V low, V high) {
  using D8 = hn::Repartition<std::uint8_t, hn::DFromV<V>>;
#if HWY_TARGET == HWY_AVX3_DL
  return hn::Vec<D8>{_mm512_packus_epi16(low.raw, high.raw)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Vec<D8>{_mm256_packus_epi16(low.raw, high.raw)};
#elif HWY_TARGET == HWY_SSE4
  return hn::Vec<D8>{_mm_packus_epi16(low.raw, high.raw)};
#else
  static_assert(hn::MaxLanes(D8()) == 16);
  const hn::Half<D8> half;
  return hn::Combine(D8(), hn::DemoteTo(half, high), hn::DemoteTo(half, low));
#endif
}

// In each lane of 32 bits: the sum of the products of two neighbours.
template <class V, class D32 = hn::Repartition<std::int32_t, hn::DFromV<V>>>
HWY_INLINE hn::Vec<D32> pair_sums(V a, V b) {
  auto more = hn::Zero(D32());
  const auto sums = hn::ReorderWidenMulAccumulate(D32(), a, b, hn::Zero(D32()), more);
  return hn::RearrangeToOddPlusEven(sums, more);
}

}  // namespace penstock::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
