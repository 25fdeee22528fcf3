// Both passes of a resize with VNNI, which adds four products of a byte and a signed byte at once. Weights of 22 bits
// are three signed bytes, hence three exact sums. In intrinsics, since Highway 1.0.3 has neither VNNI nor permutations
// of bytes across blocks; its AVX3_DL names the AVX-VNNI of other CPUs instead of AVX512-VNNI, hence the attributes of
// our own. Part of resize_kernels.cc, hence without #pragma once.
#if HWY_TARGET == HWY_AVX3_DL
#include <immintrin.h>

HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR_AVX3 ",avx512vbmi,avx512vnni")
namespace penstock::image::HWY_NAMESPACE {
namespace {

// Which of the 64 bytes at `at` a row of `bytes` has.
HWY_INLINE __mmask64 inside(std::size_t at, std::size_t bytes) {
  if (at + 64 <= bytes) return ~__mmask64{0};
  return at < bytes ? ~__mmask64{0} >> (64 - (bytes - at)) : 0;
}

HWY_INLINE __m512i load_inside(const std::uint8_t* row, std::size_t at, std::size_t bytes) {
  return _mm512_maskz_loadu_epi8(inside(at, bytes), row + at);
}

// 16 sums by digit of the weight.
struct DigitSums {
  __m512i d2, d1, d0;

  // Not by initialisers in the class: the constructor that the compiler would write has no attributes.
  HWY_INLINE DigitSums()
      : d2(_mm512_setzero_si512()), d1(_mm512_setzero_si512()), d0(_mm512_set1_epi32(1 << (kWeightBits - 1))) {}

  HWY_INLINE void add(__m512i bytes, __m512i w2, __m512i w1, __m512i w0) {
    d2 = _mm512_dpbusd_epi32(d2, bytes, w2);
    d1 = _mm512_dpbusd_epi32(d1, bytes, w1);
    d0 = _mm512_dpbusd_epi32(d0, bytes, w0);
  }

  // The sum without its fixed point, not yet clipped to a byte.
  HWY_INLINE __m512i whole() const {
    const __m512i high = _mm512_add_epi32(_mm512_slli_epi32(d2, 8), d1);
    return _mm512_srai_epi32(_mm512_add_epi32(_mm512_slli_epi32(high, 8), d0), kWeightBits);
  }
};

// Where 16 values of any row come from.
struct SourceWindow {
  std::size_t at;
  __mmask64 first, second;  // the bytes that a row has of its 64 or 128
  __m512i index;

  HWY_INLINE SourceWindow(std::size_t begin, std::size_t bytes, __m512i of)
      : at(begin), first(inside(begin, bytes)), second(inside(begin + 64, bytes)), index(of) {}

  template <bool kWide> HWY_INLINE __m512i gather(const std::uint8_t* row) const {
    const __m512i window = _mm512_maskz_loadu_epi8(first, row + at);
    if constexpr (!kWide) return _mm512_permutexvar_epi8(index, window);
    return _mm512_permutex2var_epi8(window, index, _mm512_maskz_loadu_epi8(second, row + at + 64));
  }
};

HWY_INLINE void store_sums(const DigitSums& sums, std::uint8_t* to) {
  const __m512i positive = _mm512_max_epi32(sums.whole(), _mm512_setzero_si512());
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtusepi32_epi8(positive));
}

// The rows are written out, since g++ at -O2 keeps sums of a loop in memory.
template <bool kWide>
HWY_INLINE void resize_gathered_by(const ResizePlan& plan, const std::uint8_t* const* from, std::size_t bytes,
                                   std::uint8_t* const* to) {
  const std::uint8_t *const a = from[0], *const b = from[1], *const c = from[2], *const d = from[3];
  const Lanes* digits = plan.digits;
  for (std::size_t j = 0; j < plan.gathered; ++j) {
    const __m512i index = _mm512_load_si512(plan.indices + j);
    auto at = static_cast<std::size_t>(plan.windows[j]);
    DigitSums sums_a, sums_b, sums_c, sums_d;
    for (std::size_t quad = 0; quad < plan.column_quads; ++quad, digits += 3, at += 12) {
      const SourceWindow window(at, bytes, index);
      const __m512i w2 = _mm512_load_si512(digits), w1 = _mm512_load_si512(digits + 1),
                    w0 = _mm512_load_si512(digits + 2);
      sums_a.add(window.gather<kWide>(a), w2, w1, w0);
      sums_b.add(window.gather<kWide>(b), w2, w1, w0);
      sums_c.add(window.gather<kWide>(c), w2, w1, w0);
      sums_d.add(window.gather<kWide>(d), w2, w1, w0);
    }
    store_sums(sums_a, to[0] + 16 * j);
    store_sums(sums_b, to[1] + 16 * j);
    store_sums(sums_c, to[2] + 16 * j);
    store_sums(sums_d, to[3] + 16 * j);
  }
}

void resize_gathered(const ResizePlan& plan, const std::uint8_t* const* from, std::size_t bytes,
                     std::uint8_t* const* to) {
  if (plan.is_wide) return resize_gathered_by<true>(plan, from, bytes, to);
  resize_gathered_by<false>(plan, from, bytes, to);
}

// 64 bytes of four rows, as four vectors of bytes that lie above each other.
struct Quads {
  __m512i q0, q1, q2, q3;

  HWY_INLINE Quads(const std::uint8_t* const* from, std::size_t at, std::size_t bytes) {
    const __m512i a = load_inside(from[0], at, bytes), b = load_inside(from[1], at, bytes);
    const __m512i c = load_inside(from[2], at, bytes), d = load_inside(from[3], at, bytes);
    const __m512i low_ab = _mm512_unpacklo_epi8(a, b), high_ab = _mm512_unpackhi_epi8(a, b);
    const __m512i low_cd = _mm512_unpacklo_epi8(c, d), high_cd = _mm512_unpackhi_epi8(c, d);
    q0 = _mm512_unpacklo_epi16(low_ab, low_cd);
    q1 = _mm512_unpackhi_epi16(low_ab, low_cd);
    q2 = _mm512_unpacklo_epi16(high_ab, high_cd);
    q3 = _mm512_unpackhi_epi16(high_ab, high_cd);
  }
};

HWY_INLINE __m512i resize_column_bytes(const std::uint8_t* const* from, std::size_t at, std::size_t bytes,
                                       const std::int32_t* digits, std::size_t quads) {
  DigitSums s0, s1, s2, s3;
  for (std::size_t quad = 0; quad < quads; ++quad, digits += 3, from += 4) {
    const Quads rows(from, at, bytes);
    const __m512i w2 = _mm512_set1_epi32(digits[0]), w1 = _mm512_set1_epi32(digits[1]),
                  w0 = _mm512_set1_epi32(digits[2]);
    s0.add(rows.q0, w2, w1, w0);
    s1.add(rows.q1, w2, w1, w0);
    s2.add(rows.q2, w2, w1, w0);
    s3.add(rows.q3, w2, w1, w0);
  }
  return _mm512_packus_epi16(_mm512_packs_epi32(s0.whole(), s1.whole()), _mm512_packs_epi32(s2.whole(), s3.whole()));
}

void resize_columns_by_digits(const ResizePlan& plan, std::size_t i, const std::uint8_t* const* from, std::size_t bytes,
                              std::uint8_t* to) {
  const std::size_t quads = plan.row_quads;
  const std::int32_t* const digits = plan.row_weights + i * quads * 3;
  for (std::size_t at = 0; at < bytes; at += 64)
    _mm512_storeu_si512(to + at, resize_column_bytes(from, at, bytes, digits, quads));
}

}  // namespace
}  // namespace penstock::image::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
#endif
