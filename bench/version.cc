#include "bench/version.h"

// jpeglib.h uses FILE and size_t without including them.
#include <jpeglib.h>
#include <oneapi/tbb/version.h>

#include <cstddef>
#include <cstdio>

#include "lib/core/version.h"

#define PENSTOCK_TEXT_OF(token) #token
#define PENSTOCK_TEXT(token) PENSTOCK_TEXT_OF(token)

namespace penstock::bench {

std::string version_text(const char* program) {
  return std::string(program) + " " + std::string(build::version) + " (" +
         std::string(build::type) + ", " + std::string(build::compiler) + ")\n" +
         "SIMD targets: none of our own yet\n" + "oneTBB " + TBB_runtime_version() +
         ", libjpeg-turbo " PENSTOCK_TEXT(LIBJPEG_TURBO_VERSION);
}

}  // namespace penstock::bench
