// Groups of blocks: how coefficients lie between entropy decoding and the transform.
//
// Four neighbouring blocks of a row of blocks, side by side: the coefficient in row y and column x of block j lies at
// y * 32 + j * 8 + x, in natural order. Behind them lies a row that decoding may write to, where a damaged run leaves a
// block.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::image {

inline constexpr std::size_t kBlocksInGroup = 4;
inline constexpr std::size_t kGroupStride = 32;                // values from one row of a group to the next
inline constexpr std::size_t kGroupValues = 9 * kGroupStride;  // the last row is the one beyond
inline constexpr std::size_t kGroupAlignment = 64;             // bytes

}  // namespace penstock::image
