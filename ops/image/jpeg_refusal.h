// Why our own JPEG decoder leaves a file to libjpeg-turbo.
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock::image {

enum class Refusal : std::uint8_t {
  none,
  process,       // progressive, arithmetic, lossless, hierarchical, or 12 bits a sample
  components,    // neither 1 nor 3, or not YCbCr
  sampling,      // other than 4:4:4, 4:2:2, 4:2:0, 4:4:0, or too narrow for smooth colour
  scans,         // several, or with components in another order
  tables,        // missing, or no Huffman code
  marker,        // one that is unknown, wrong or unusual in the headers
  options,       // a transform or an upsampling that was asked for
  data,          // damaged or unusual entropy-coded data: a bad code, too short, too long, a wrong marker
  coefficients,  // beyond the bound within which all implementations agree
};

std::string_view to_string(Refusal refusal) noexcept;

}  // namespace penstock::image
