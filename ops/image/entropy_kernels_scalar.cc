#include <algorithm>
#include <cstring>

#include "ops/image/entropy_blocks.h"
#include "ops/image/entropy_kernels.h"

namespace penstock::image {
namespace {

UnstuffedScan unstuff_bytes(const std::uint8_t* file, std::size_t file_bytes, std::size_t begin, std::uint8_t* to) {
  UnstuffedScan scan{.position = begin};
  while (scan.position < file_bytes) {
    const std::uint8_t* const from = file + scan.position;
    const auto* const found = static_cast<const std::uint8_t*>(std::memchr(from, 0xff, file_bytes - scan.position));
    const std::size_t before = found == nullptr ? file_bytes - scan.position : static_cast<std::size_t>(found - from);
    std::memcpy(to + scan.bytes, from, before);
    scan.bytes += before;
    scan.position += before;
    if (scan.position + 1 >= file_bytes) return scan;
    scan.marker = file[scan.position + 1];
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

const EntropyKernels kScalarEntropy{&unstuff_bytes, &store_mcus, &skip_mcus};

}  // namespace penstock::image
