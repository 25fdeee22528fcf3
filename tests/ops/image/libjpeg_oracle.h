// What libjpeg itself finds in a file: the referee of our own decoder's parts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ops/image/jpeg_markers.h"

namespace penstock::testing {

// Coefficients of a component, in natural order, block after block; rows of blocks as long as the MCUs need, of which libjpeg keeps
// only those that lie in the image.
struct ComponentCoefficients {
  std::int64_t across = 0;  // blocks that lie in the image
  std::int64_t down = 0;
  std::vector<std::array<std::int16_t, 64>> blocks;
};

struct LibjpegCoefficients {
  std::string error;  // empty: none
  long warnings = 0;
  std::vector<ComponentCoefficients> components;
};

LibjpegCoefficients libjpeg_coefficients(std::span<const std::byte> file);

// What libjpeg has to say about headers that ours took; empty: that it takes them as well, without a warning, and reads the same.
std::string disagreement_on_headers(std::span<const std::byte> file, const image::JpegHeaders& headers);

}  // namespace penstock::testing
