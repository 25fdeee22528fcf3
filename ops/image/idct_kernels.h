// Kernels of the inverse DCT (ITU-T T.81, A.3.3): libjpeg's accurate integer transform ("islow", jidctint.c), bit for
// bit.
#pragma once

#include <penstock/image/simd.h>

#include <cstddef>
#include <cstdint>

#include "ops/image/jpeg_group.h"
#include "ops/image/jpeg_markers.h"

namespace penstock::image {

// A quantiser's steps as kernels want them: each row once for each block of a group.
struct alignas(kGroupAlignment) IdctTable {
  std::int16_t steps[8 * kGroupStride];
  std::int16_t limits[8 * kGroupStride];  // the same, but cut where the bound on coefficients is broken anyhow
};

// False: a step is 0 or above 32767, which is not dequantised here.
bool build(IdctTable& table, const QuantiserSteps& steps) noexcept;

struct IdctKernels {
  // `count` groups that follow each other: dequantised, transformed, raised by 128 and clamped, to 8 rows of count * 32
  // samples, `stride` bytes apart. Sets coefficients and has_ac to 0. Groups whose has_ac is 0 have first coefficients
  // only. False: some block breaks the bound within which libjpeg-turbo's C and SIMD code and this one agree (see
  // idct_range.h); its samples are arbitrary, or not written.
  bool (*transform)(std::int16_t* groups, std::uint8_t* has_ac, std::size_t count, const IdctTable& table,
                    std::uint8_t* samples, std::size_t stride);
};

const IdctKernels& idct_kernels(Simd wanted);

extern const IdctKernels kScalarIdct;

}  // namespace penstock::image
