// Simd: which instructions the image functions use.
//
// The best that the CPU has are chosen when the program runs, so that one binary serves all machines. Results
// never depend on the choice, except where a function says so.
//
//   std::string_view best = ps::image::to_string(ps::image::best_simd());  // "avx512" on Ice Lake and Zen 4
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock::image {

enum class Simd : std::uint8_t {
  automatic,  // the best of the following that this CPU has
  scalar,     // none: plain C++, the reference for the others
  sse4,       // x86-64 of 2008
  avx2,       // of 2013, with FMA
  avx512,     // of 2019: AVX-512 with VBMI and VNNI (Ice Lake, Zen 4)
  neon,       // arm64
};

std::string_view to_string(Simd simd) noexcept;  // "auto", "scalar", "sse4", ...

// Those that this CPU has and this build knows, scalar first, the best one last. Never empty.
std::vector<Simd> supported_simd();

// What `automatic` means here.
Simd best_simd();

}  // namespace penstock::image

#pragma GCC visibility pop
