#include "ops/image/entropy_kernels.h"

#include "ops/image/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/image/entropy_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/image/entropy_blocks.h"
#if HWY_TARGET == HWY_AVX3_DL
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace penstock::image::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3_DL

// What a scan's last bytes are to unstuff_vector(): those behind the file's end are not there.
struct Unstuffing {
  const std::uint8_t* file;
  std::size_t file_bytes;
  std::uint8_t* to;
  UnstuffedScan scan;       // position: of the next byte that was not looked at
  std::uint64_t ends_in_ff = 0;  // whether the byte before is an ff
};

// 64 bytes without a branch but for markers. False: a marker or the end.
HWY_INLINE bool unstuff_vector(Unstuffing& state) {
  const std::size_t left = state.file_bytes - state.scan.position;
  const __mmask64 there = left >= 64 ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
  const __m512i bytes = _mm512_maskz_loadu_epi8(there, state.file + state.scan.position);
  const __mmask64 is_ff = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(-1));
  const __mmask64 behind_ff = is_ff << 1U | state.ends_in_ff;
  const __mmask64 is_zero = _mm512_testn_epi8_mask(bytes, bytes) & there;
  const __mmask64 markers = behind_ff & there & ~is_zero;
  const __mmask64 before_marker = markers == 0 ? there : (markers & (0 - markers)) - 1;
  const __mmask64 kept = before_marker & there & ~(behind_ff & is_zero);
  _mm512_storeu_si512(state.to + state.scan.bytes, _mm512_maskz_compress_epi8(kept, bytes));
  state.scan.bytes += static_cast<std::size_t>(__builtin_popcountll(kept));
  if (HWY_UNLIKELY(markers != 0)) {
    const std::size_t at = static_cast<std::size_t>(__builtin_ctzll(markers));
    state.scan.position += at;
    state.scan.marker = state.file[state.scan.position];
    return false;
  }
  state.ends_in_ff = is_ff >> 63U;
  state.scan.position += left >= 64 ? 64 : left;
  return left > 64;
}

// Each ff is written at once, and taken back where it is a marker's or the file's last byte.
UnstuffedScan unstuff(const std::uint8_t* file, std::size_t file_bytes, std::size_t begin, std::uint8_t* to) {
  if (begin >= file_bytes) return {.position = begin};
  Unstuffing state{.file = file, .file_bytes = file_bytes, .to = to, .scan = {.position = begin}};
  while (unstuff_vector(state)) {
  }
  const bool ends_in_ff = state.scan.marker != 0 || file[file_bytes - 1] == 0xff;
  if (ends_in_ff) {
    --state.scan.bytes;
    --state.scan.position;
  }
  return state.scan;
}

#else

// How many bytes of a vector come before its first ff, all of which are copied with the vector.
HWY_INLINE std::size_t copy_to_ff(const std::uint8_t* from, std::uint8_t* to) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto bytes = hn::LoadU(d, from);
  hn::StoreU(bytes, d, to);
  const auto is_ff = hn::Eq(bytes, hn::Set(d, std::uint8_t{0xff}));
  return hn::AllFalse(d, is_ff) ? hn::Lanes(d) : static_cast<std::size_t>(hn::FindFirstTrue(d, is_ff));
}

// The same byte by byte, where the file ends.
HWY_INLINE std::size_t copy_rest_to_ff(const std::uint8_t* from, std::size_t count, std::uint8_t* to) {
  std::size_t i = 0;
  for (; i < count && from[i] != 0xff; ++i) to[i] = from[i];
  return i;
}

UnstuffedScan unstuff(const std::uint8_t* file, std::size_t file_bytes, std::size_t begin, std::uint8_t* to) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<std::uint8_t>());
  UnstuffedScan scan{.position = begin};
  while (scan.position < file_bytes) {
    const std::size_t left = file_bytes - scan.position;
    const std::uint8_t* const from = file + scan.position;
    const std::size_t copied =
        left >= lanes ? copy_to_ff(from, to + scan.bytes) : copy_rest_to_ff(from, left, to + scan.bytes);
    scan.bytes += copied;
    scan.position += copied;
    if (copied == lanes || copied == left) continue;
    if (left - copied == 1) return scan;
    scan.marker = from[copied + 1];
    if (scan.marker != 0) return scan;
    to[scan.bytes++] = 0xff;
    scan.position += 2;
  }
  return scan;
}

#endif

bool store_mcus(BitState& state, std::int32_t* predictors, const BlockPlan* blocks, std::size_t block_count, std::size_t first,
                std::size_t end) {
  return store_all_mcus(state, predictors, blocks, block_count, first, end);
}

bool skip_mcus(BitState& state, std::int32_t* predictors, const BlockPlan* blocks, std::size_t block_count, std::size_t count) {
  return skip_all_mcus(state, predictors, blocks, block_count, count);
}

}  // namespace

extern const EntropyKernels kEntropyKernels;
const EntropyKernels kEntropyKernels{&unstuff, &store_mcus, &skip_mcus};

}  // namespace penstock::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/image/simd_choice.h"

namespace penstock::image {

const EntropyKernels& entropy_kernels(Simd wanted) { return PENSTOCK_CHOOSE_KERNELS(wanted, kScalarEntropy, kEntropyKernels); }

}  // namespace penstock::image
#endif
