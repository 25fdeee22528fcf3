// A whole scan decoded by kernels of entropy decoding, in the simplest way: to compare their coefficients with others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ops/image/entropy_kernels.h"
#include "ops/image/jpeg_markers.h"

namespace penstock::testing {

struct ScanCoefficients {
  struct Component {
    std::size_t across = 0;  // blocks that the MCUs have
    std::vector<std::array<std::int16_t, 64>> blocks;
  };
  std::string wrong;  // empty: nothing
  std::vector<Component> components;
};

// Each call of store_mcus() is repeated with skip_mcus(), which must end at the same bit with the same predictions.
ScanCoefficients kernel_coefficients(std::span<const std::byte> file, const image::JpegHeaders& headers,
                                     const image::EntropyKernels& kernels);

}  // namespace penstock::testing
