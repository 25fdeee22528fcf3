// Kernels of entropy decoding (ITU-T T.81, F.2.2): the bytes of a scan to coefficients, or past them.
//
//   UnstuffedScan scan = kernels.unstuff(file, begin, to);
//   BitState state{.next = bytes};
//   bool good = kernels.store_mcus(state, predictors, blocks, 6, 0, 16);  // 16 MCUs of 4:2:0
#pragma once

#include <penstock/image/simd.h>

#include <cstddef>
#include <cstdint>

#include "ops/image/huffman.h"
#include "ops/image/jpeg_group.h"

namespace penstock::image {

// Bits that were taken from memory and not used yet: the `count` highest of `bits`. Memory is read on at `next`, 8
// bytes at once.
struct BitState {
  std::uint64_t bits = 0;
  std::uint32_t count = 0;
  const std::uint8_t* next = nullptr;
};

// Bits used since `begin`.
inline std::int64_t bits_used(const BitState& state, const std::uint8_t* begin) {
  return 8 * (state.next - begin) - static_cast<std::int64_t>(state.count);
}

// One block of an MCU (A.2.3). Block `x` of MCU m is number m * across + x of its row of blocks, counted from the first
// one of `groups`.
struct BlockPlan {
  const DcTable* dc;
  const AcTable* ac;
  int component;
  std::int16_t* groups;
  std::uint8_t* has_ac;  // one for each group: set to 1 where a coefficient but the first is not known to be 0
  int across;
  int x;
};

// A block takes at most 16 + 15 bits for its first coefficient and as many for each of 63 others, 1984 bits. A call for
// at most kMcusAtOnce MCUs of at most kMostBlocksInMcu blocks reads less than this many bytes: who checks after each
// call where it has got to, and has as many readable bytes behind the data, reads nothing else.
inline constexpr std::size_t kMcusAtOnce = 16;
inline constexpr std::size_t kMostBlocksInMcu = 6;  // of the samplings that are taken
inline constexpr std::size_t kReadAhead = kMcusAtOnce * kMostBlocksInMcu * 248 + 64;

// How a scan ended.
struct UnstuffedScan {
  std::size_t bytes = 0;     // written
  std::size_t position = 0;  // in the file: of the ff of the marker that ended it
  std::uint8_t marker = 0;   // the byte behind it; 0: the file ended before
};

struct EntropyKernels {
  // Copies a scan's data up to the next marker, without the 00 behind each ff (B.1.1.5). `to` has room for file_bytes -
  // begin + 64 bytes. A marker's fill bytes (several ff) count as marker ff. Reads nothing beyond the file.
  UnstuffedScan (*unstuff)(const std::uint8_t* file, std::size_t file_bytes, std::size_t begin, std::uint8_t* to);

  // MCUs [first, end) of a row, at most kMcusAtOnce, into groups that were all 0. `predictors` are the DC coefficients
  // before (F.1.1.5.1), one for each component. False: a code that there is none of, a run that leaves its block, or a
  // DC coefficient beyond -32767 .. 32767; what was written then is arbitrary, but lies in the groups.
  bool (*store_mcus)(BitState& state, std::int32_t* predictors, const BlockPlan* blocks, std::size_t block_count,
                     std::size_t first, std::size_t end);

  // `count` MCUs, at most kMcusAtOnce, without their coefficients.
  bool (*skip_mcus)(BitState& state, std::int32_t* predictors, const BlockPlan* blocks, std::size_t block_count,
                    std::size_t count);
};

const EntropyKernels& entropy_kernels(Simd wanted);

extern const EntropyKernels kScalarEntropy;

}  // namespace penstock::image
