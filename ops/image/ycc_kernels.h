// Kernels from samples of components to pixels: libjpeg's smooth ("fancy") upsampling (jdsample.c) and its conversion
// of YCbCr to RGB (jdcolor.c, after JFIF 1.02), bit for bit.
//
// Rows of samples have kSampleMargin bytes in front of the first one and behind the last one that may be read, whatever
// they hold. Rows of pixels are written to their last byte and no further.
#pragma once

#include <penstock/image/simd.h>

#include <cstddef>
#include <cstdint>

namespace penstock::image {

inline constexpr std::size_t kSampleMargin = 64;

struct YccKernels {
  // `width` pixels, interleaved.
  void (*rgb)(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t width,
              std::uint8_t* out);
  void (*grey)(const std::uint8_t* y, std::size_t width, std::uint8_t* out);  // each sample three times

  // 2 * width samples of a row of `width` (h2v1). in[-1] and in[width] are its neighbours; at the image's edge they
  // equal the first and the last one. Writes up to kSampleMargin bytes more.
  void (*double_across)(const std::uint8_t* in, std::size_t width, std::uint8_t* out);

  // One row between two (h1v2): of the nearer and the farther one; `is_lower` for that in the lower half of the nearer
  // one. Writes up to kSampleMargin bytes more.
  void (*mix_rows)(const std::uint8_t* nearer, const std::uint8_t* farther, std::size_t width, bool is_lower,
                   std::uint8_t* out);

  // 2 * width samples of two rows of `width` (h2v2), with neighbours as above in both. Writes up to kSampleMargin bytes
  // more.
  void (*double_both)(const std::uint8_t* nearer, const std::uint8_t* farther, std::size_t width, std::uint8_t* out);
};

const YccKernels& ycc_kernels(Simd wanted);

extern const YccKernels kScalarYcc;

}  // namespace penstock::image
