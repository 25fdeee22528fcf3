// The inverse DCT as sums of integers, and the bound within which everyone's implementation of it agrees.
//
// The transform. libjpeg's islow is linear but for two roundings. One dimension of eight inputs d, multiplied out,
// gives
//   out[x] = (1/8192) * sum over u of W[x][u] * d[u],  W integers,  |W[x][u]| <= 11363   (kEvenWeights, kOddWeights,
//   kUnitWeight)
// First down the columns, rounded to a quarter:        w = (sum + 2^10) >> 11
// then along the rows, rounded to an eighth of those:  g = (sum + 2^17) >> 18
// A sample is g + 128, clamped to 0 .. 255. d = coefficient * step.
//
// Who computes it, and where they part (libjpeg-turbo 2.1.5: jidctint.c; simd/x86_64/jidctint-sse2.asm and -avx2.asm;
// simd/arm/jidctint-neon.c):
//   C      long and int throughout; clamps g by a table of 1024 entries, which is right for -512 <= g <= 511 only
//          (jdmaster.c, prepare_range_limit_table; RANGE_MASK in jdct.h)
//   SIMD   d is the low half of the product; d0 + d4, d0 - d4, d1 + d5, d3 + d7, and the same of w, are sums of 16
//          bits; w is cut or saturated to 16 bits; columns of only d0 take d0 << 2 in 16 bits. Sums of products have 32
//          bits. g saturates.
//   ours   d is the low half of the product; w saturates to 16 bits; sums of products have 32 bits; g saturates. In
//          plain C++ d and w have 32 bits; g + 512 is taken modulo 1024, and the block refused if that changed it.
// Adding, subtracting and multiplying wrap, so a sum of 32 bits is right whatever came between, if its own value fits.
// So all agree on a block where, in exact arithmetic,
//   (1) each d, each w, and each of those eight kinds of sums fits in 16 bits, and
//   (2) -512 <= g <= 511.
// (w fits, hence its sum of products in 16 + 11 bits; g fits, hence its sum in 10 + 18 bits.) is_within_range()
// computes just that.
//
// The quick test. Let S[v] be the sum of |d| over column v. A rounded value is within 1/2 of what was rounded, so
//   |w| <= 11363 * S[v] / 2048 + 1/2.
// If no S[v] is above 2952: |d|, and sums of two d of a column, are at most 2952; |w|, and sums of two w, which are of
// different columns, at most 11363 * 5904 / 2048 + 1 < 2^15. So (1) holds. Whether (2) does is then seen from g as it
// is computed: g's sum is at most 11363 * 8 * 16380 < 2^31 - 2^28, which leaves room for what is added to it (2^25 in
// SIMD code, 2^27 in plain C++), so it is right, and g fits in 16 bits.
//
// SIMD code adds up two neighbouring columns, in 32 bits: steps are cut at kQuickLimit + 1 (a coefficient of 1 then
// fails it, as it must), and 16 products of at most 32767 * 2953 are below 2^31. Real pictures pass it, all 1,139,847
// blocks of shared/data/imagenet.
#pragma once

#include <cstdint>

namespace penstock::image {

// W for inputs 2 and 6: to outputs 0 and 1; with the other sign to outputs 3 and 2. From the constants of jidctint.c,
// 13 bits each.
inline constexpr int kEvenWeights[2][2] = {{4433 + 6270, 4433}, {4433, 4433 - 15137}};

// W for inputs 1, 3, 5 and 7: to outputs 0 .. 3; with the other sign to outputs 7 .. 4.
inline constexpr int kOddWeights[4][4] = {{12299 - 7373 - 3196 + 9633, 9633, 9633 - 3196, 9633 - 7373},
                                          {9633, 25172 - 20995 - 16069 + 9633, 9633 - 20995, 9633 - 16069},
                                          {9633 - 3196, 9633 - 20995, 16819 - 20995 - 3196 + 9633, 9633},
                                          {9633 - 7373, 9633 - 16069, 9633, 2446 - 7373 - 16069 + 9633}};

inline constexpr int kUnitWeight = 8192;  // W for inputs 0 and 4
inline constexpr int kColumnShift = 11;
inline constexpr int kRowShift = 18;
inline constexpr int kLargestWeight = 11363;

inline constexpr int kQuickLimit = 2952;
static_assert(kLargestWeight * 2 * kQuickLimit / 2048 + 2 <= 32767);

// (2)
inline constexpr int kLowest = -512;
inline constexpr int kHighest = 511;

// Whether (1) and (2) hold for a block of a group and its steps, rows kGroupStride apart. Some 200 ns.
bool is_within_range(const std::int16_t* block, const std::int16_t* steps) noexcept;

}  // namespace penstock::image
