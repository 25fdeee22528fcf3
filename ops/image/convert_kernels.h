// Kernels of convert.h: floats to halves, bfloat16 and bytes. Equal to to_f16(), to_bf16(), to_u8() bit for bit, NaN
// included, on every instruction set.
#pragma once

#include <penstock/image/simd.h>

#include <cstddef>
#include <cstdint>

namespace penstock::image {

struct ConvertKernels {
  void (*to_f16)(const float* from, std::uint16_t* to, std::size_t count);
  void (*to_bf16)(const float* from, std::uint16_t* to, std::size_t count);
  void (*to_u8)(const float* from, std::uint8_t* to, std::size_t count);
};

const ConvertKernels& convert_kernels(Simd wanted);

extern const ConvertKernels kScalarConvert;

}  // namespace penstock::image
