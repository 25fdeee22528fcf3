// Chooses among the kernels that were compiled for several instruction sets; see simd_targets.h. Include it after
// Highway.
#pragma once

#include <penstock/image/simd.h>

#include <cstddef>

#include "ops/image/simd.h"

// For the part of a file that is compiled once (HWY_ONCE): the object `kernels` of the namespace that `wanted` stands
// for, or `scalar`.
#if defined(__x86_64__)
#define PENSTOCK_CHOOSE_KERNELS(wanted, scalar, kernels) \
  ::penstock::image::choose(wanted, {&(scalar), &N_SSE4::kernels, &N_AVX2::kernels, &N_AVX3_DL::kernels})
#else
#define PENSTOCK_CHOOSE_KERNELS(wanted, scalar, kernels) \
  ::penstock::image::choose(wanted, {&(scalar), &HWY_STATIC_DISPATCH(kernels)})
#endif
