#include "tests/support/source_folder.h"

#include <cstdlib>

namespace penstock::test {

std::filesystem::path source_folder() { return PENSTOCK_SOURCE_DIR; }

std::filesystem::path shared_folder() {
  if (const char* named = std::getenv("PENSTOCK_SHARED")) return named;
  return PENSTOCK_SHARED_DIR;
}

}  // namespace penstock::test
