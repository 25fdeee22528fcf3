#include "ops/image/entropy_kernels.h"

#include "ops/image/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/image/entropy_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/image/entropy_blocks.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::image::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

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

bool store_mcus(BitState& state, std::int32_t* predictors, const BlockPlan* blocks, std::size_t block_count,
                std::size_t first, std::size_t end) {
  return store_all_mcus(state, predictors, blocks, block_count, first, end);
}

bool skip_mcus(BitState& state, std::int32_t* predictors, const BlockPlan* blocks, std::size_t block_count,
               std::size_t count) {
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

const EntropyKernels& entropy_kernels(Simd wanted) {
  return PENSTOCK_CHOOSE_KERNELS(wanted, kScalarEntropy, kEntropyKernels);
}

}  // namespace penstock::image
#endif
