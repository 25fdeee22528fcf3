// Rounding of float vectors to halves, bfloat16 and bytes; written out because Highway's DemoteTo truncates where the
// CPU has no instruction for it. Part of a file of SIMD kernels, hence without #pragma once but with Highway's toggle.
#if defined(PENSTOCK_CONVERT_LANES) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_CONVERT_LANES
#undef PENSTOCK_CONVERT_LANES
#else
#define PENSTOCK_CONVERT_LANES
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::image::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Half of the bits drop out; what is added makes exactly the right values carry: halves only into an odd result.
template <int kBits, class V> HWY_INLINE V rounded_shift(V bits) {
  const hn::DFromV<V> d;
  const V odd = hn::And(hn::ShiftRight<kBits>(bits), hn::Set(d, 1U));
  return hn::ShiftRight<kBits>(hn::Add(hn::Add(bits, hn::Set(d, (1U << (kBits - 1)) - 1)), odd));
}

// to_f16() of convert.h on each lane, in the low 16 bits.
template <class D, class VF> HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> f16_bits(D d, VF value) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, value);
  const auto sign = hn::ShiftRight<16>(hn::And(bits, hn::Set(du, 0x80000000U)));
  const auto size = hn::And(bits, hn::Set(du, 0x7fffffffU));
  const auto normal = rounded_shift<13>(hn::Sub(size, hn::Set(du, (127U - 15U) << 23)));
  const auto half = hn::Set(d, 0.5F);
  const auto subnormal = hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(d, size), half)), hn::BitCast(du, half));
  // As signed numbers: sizes are below 2^31, and all CPUs compare those.
  const hn::RebindToSigned<D> di;
  const auto is_below = [&](std::uint32_t limit) {
    return hn::RebindMask(du, hn::Lt(hn::BitCast(di, size), hn::Set(di, static_cast<std::int32_t>(limit))));
  };
  auto result = hn::IfThenElse(is_below(0x38800000U), subnormal, normal);
  result = hn::IfThenElse(is_below(0x477ff000U), result, hn::Set(du, 0x7c00U));
  result = hn::IfThenElse(is_below(0x7f800001U), result, hn::Set(du, 0x7e00U));
  return hn::Or(sign, result);
}

// to_bf16() on each lane, in the low 16 bits.
template <class D, class VF> HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> bf16_bits(D, VF value) {
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(du, value);
  const auto size = hn::BitCast(di, hn::And(bits, hn::Set(du, 0x7fffffffU)));
  const auto is_nan = hn::RebindMask(du, hn::Gt(size, hn::Set(di, 0x7f800000)));
  const auto quiet = hn::Or(hn::ShiftRight<16>(bits), hn::Set(du, 0x40U));
  return hn::IfThenElse(is_nan, quiet, rounded_shift<16>(bits));
}

// to_u8() on each lane. 2^23 has spacing 1, so the sum is rounded to a whole number; NaN becomes 0.
template <class D, class VF> HWY_INLINE hn::Vec<hn::RebindToSigned<D>> byte_values(D d, VF value) {
  const auto inside = hn::IfThenElseZero(hn::Gt(value, hn::Zero(d)), hn::Min(value, hn::Set(d, 255.0F)));
  const auto big = hn::Set(d, 0x1p23F);
  return hn::ConvertTo(hn::RebindToSigned<D>(), hn::Sub(hn::Add(inside, big), big));
}

}  // namespace penstock::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
