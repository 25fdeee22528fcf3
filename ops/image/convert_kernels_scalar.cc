#include <penstock/image/convert.h>

#include "ops/image/convert_kernels.h"

namespace penstock::image {
namespace {

template <auto Convert, class To> void convert_all(const float* from, To* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = Convert(from[i]);
}

}  // namespace

const ConvertKernels kScalarConvert{&convert_all<to_f16, std::uint16_t>, &convert_all<to_bf16, std::uint16_t>,
                                    &convert_all<to_u8, std::uint8_t>};

}  // namespace penstock::image
