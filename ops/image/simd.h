// Which kernels run; the order in which they are listed.
#pragma once

#include <penstock/image/simd.h>

#include <cstddef>
#include <initializer_list>

namespace penstock::image {

// The place of `wanted`, or of the best one for `automatic`, among the instruction sets that this build knows; scalar
// is 0. Error(invalid_argument) if the build or the CPU lacks it.
std::size_t kernel_index(Simd wanted);

// `by_index` has one family of kernels for each instruction set that the build knows.
template <class Kernels> const Kernels& choose(Simd wanted, std::initializer_list<const Kernels*> by_index) {
  return **(by_index.begin() + kernel_index(wanted));
}

}  // namespace penstock::image
