// libFuzzer's entry; PENSTOCK_FUZZ_TARGET is one of the functions in targets.h.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  penstock::fuzz::PENSTOCK_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
