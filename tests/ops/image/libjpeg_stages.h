// What libjpeg itself makes of a file: its coefficients, the samples behind its inverse DCT, its pixels. All throw
// std::runtime_error with libjpeg's text, also for warnings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/support/jpeg_coefficients.h"

namespace penstock::testing {

// Of a plane before upsampling: whole blocks, also beyond the picture's edges where the file has them.
struct SamplePlane {
  std::size_t width = 0;   // a multiple of 8
  std::size_t height = 0;
  std::size_t used_width = 0;   // inside the picture (downsampled_width)
  std::size_t used_height = 0;
  std::vector<std::uint8_t> samples;
};

enum class OracleColour : std::uint8_t { rgb, ycc };

JpegCoefficients coefficients_of(std::span<const std::byte> file);
std::vector<SamplePlane> libjpeg_planes(std::span<const std::byte> file);  // islow

// islow and smooth upsampling, 3 bytes a pixel; grey as rgb gives each sample three times.
std::vector<std::uint8_t> libjpeg_pixels(std::span<const std::byte> file, OracleColour colour);

}  // namespace penstock::testing
