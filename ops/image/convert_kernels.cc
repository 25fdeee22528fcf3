#include "ops/image/convert_kernels.h"

#include "ops/image/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/image/convert_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/image/convert_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::image::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class Store> HWY_INLINE void for_each_vector(const float* from, std::size_t count, const Store& store) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) store(hn::LoadU(d, from + i), i, lanes);
  if (i == count) return;
  // The rest by way of memory of full length, since nothing may be read or written beyond the ends.
  HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
  for (std::size_t k = 0; i + k < count; ++k) rest[k] = from[i + k];
  store(hn::Load(d, rest), i, count - i);
}

template <class V, class To> HWY_INLINE void store_lanes(V narrow, To* to, std::size_t count) {
  const hn::DFromV<V> d;
  if (count == hn::Lanes(d)) return hn::StoreU(narrow, d, to);
  HWY_ALIGN To all[hn::MaxLanes(d)];
  hn::Store(narrow, d, all);
  for (std::size_t k = 0; k < count; ++k) to[k] = all[k];
}

void to_f16_all(const float* from, std::uint16_t* to, std::size_t count) {
  const hn::ScalableTag<float> d;
  for_each_vector(from, count, [&](auto value, std::size_t i, std::size_t n) HWY_ATTR {
    const auto bits = hn::BitCast(hn::RebindToSigned<decltype(d)>(), f16_bits(d, value));
    store_lanes(hn::DemoteTo(hn::Rebind<std::uint16_t, decltype(d)>(), bits), to + i, n);
  });
}

void to_bf16_all(const float* from, std::uint16_t* to, std::size_t count) {
  const hn::ScalableTag<float> d;
  for_each_vector(from, count, [&](auto value, std::size_t i, std::size_t n) HWY_ATTR {
    const auto bits = hn::BitCast(hn::RebindToSigned<decltype(d)>(), bf16_bits(d, value));
    store_lanes(hn::DemoteTo(hn::Rebind<std::uint16_t, decltype(d)>(), bits), to + i, n);
  });
}

void to_u8_all(const float* from, std::uint8_t* to, std::size_t count) {
  const hn::ScalableTag<float> d;
  for_each_vector(from, count, [&](auto value, std::size_t i, std::size_t n) HWY_ATTR {
    store_lanes(hn::DemoteTo(hn::Rebind<std::uint8_t, decltype(d)>(), byte_values(d, value)), to + i, n);
  });
}

}  // namespace

extern const ConvertKernels kKernels;
const ConvertKernels kKernels{&to_f16_all, &to_bf16_all, &to_u8_all};

}  // namespace penstock::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/image/simd_choice.h"

namespace penstock::image {

const ConvertKernels& convert_kernels(Simd wanted) { return PENSTOCK_CHOOSE_KERNELS(wanted, kScalarConvert, kKernels); }

}  // namespace penstock::image
#endif
