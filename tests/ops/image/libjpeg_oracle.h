// What libjpeg itself finds in a file, the referee of our own decoder's parts: its headers, its coefficients, the
// samples behind its inverse DCT, its pixels. Those that return no error text throw std::runtime_error with libjpeg's,
// also for warnings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ops/image/jpeg_markers.h"
#include "tests/support/jpeg_coefficients.h"

namespace penstock::testing {

// What libjpeg has to say about headers that ours took; empty: that it takes them as well, without a warning, and reads
// the same.
std::string disagreement_on_headers(std::span<const std::byte> file, const image::JpegHeaders& headers);

// Coefficients of a component, in natural order, block after block; rows of blocks as long as the MCUs need, of which
// libjpeg keeps only those that lie in the image.
struct ComponentCoefficients {
  std::int64_t across = 0;  // blocks that lie in the image
  std::int64_t down = 0;
  std::vector<CoefficientBlock> blocks;
};

struct LibjpegCoefficients {
  std::string error;  // empty: none
  long warnings = 0;
  std::vector<ComponentCoefficients> components;
};

LibjpegCoefficients libjpeg_coefficients(std::span<const std::byte> file);

// Of a plane before upsampling: whole blocks, also beyond the picture's edges where the file has them.
struct SamplePlane {
  std::size_t width = 0;  // a multiple of 8
  std::size_t height = 0;
  std::size_t used_width = 0;  // inside the picture (downsampled_width)
  std::size_t used_height = 0;
  std::vector<std::uint8_t> samples;
};

enum class OracleColour : std::uint8_t { rgb, ycc };

JpegCoefficients coefficients_of(std::span<const std::byte> file);
std::vector<SamplePlane> libjpeg_planes(std::span<const std::byte> file);  // islow

// islow and smooth upsampling, 3 bytes a pixel; grey as rgb gives each sample three times.
std::vector<std::uint8_t> libjpeg_pixels(std::span<const std::byte> file, OracleColour colour);

}  // namespace penstock::testing
