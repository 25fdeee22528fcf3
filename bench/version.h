// What `--version` of a program prints.
#pragma once

#include <string>

namespace penstock::bench {

// Version, build type and compiler; SIMD targets; versions of oneTBB and libjpeg-turbo.
std::string version_text(const char* program);

}  // namespace penstock::bench
