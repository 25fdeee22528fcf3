#include "bench/version.h"

// jpeglib.h uses FILE and size_t without including them.
#include <jpeglib.h>
#include <oneapi/tbb/version.h>
#include <penstock/image/simd.h>

#include <cstddef>
#include <cstdio>

#include "lib/core/version.h"

#define PENSTOCK_TEXT_OF(token) #token
#define PENSTOCK_TEXT(token) PENSTOCK_TEXT_OF(token)

namespace penstock::bench {
namespace {

std::string simd_targets() {
  std::string text;
  for (const image::Simd simd : image::supported_simd())
    text += (text.empty() ? "" : ", ") + std::string(to_string(simd));
  return text;
}

}  // namespace

std::string version_text(const char* program) {
  return std::string(program) + " " + std::string(build::version) + " (" + std::string(build::type) + ", " +
         std::string(build::compiler) + ")\n" + "SIMD targets: " + simd_targets() + "\n" + "oneTBB " +
         TBB_runtime_version() + ", libjpeg-turbo " PENSTOCK_TEXT(LIBJPEG_TURBO_VERSION);
}

}  // namespace penstock::bench
