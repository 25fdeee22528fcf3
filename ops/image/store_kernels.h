// Kernels that give bytes of pixels their final form: mirrored, normalised, in their type, interleaved or in planes.
// Bit for bit the same on every instruction set.
#pragma once

#include <penstock/image/convert.h>
#include <penstock/image/simd.h>
#include <penstock/tensor.h>

#include <cstddef>
#include <cstdint>

namespace penstock::image {

// Where a row goes.
struct RowTarget {
  DType type;
  Layout layout;
  std::byte* at;      // its first value
  std::size_t plane;  // values from one plane to the next; nchw only
  bool stream;        // past the caches, where the row is aligned to a cache line
};

struct StoreKernels {
  // `width` pixels as values.
  void (*store)(const detail::NormaliserTables& how, const RowTarget& to, const std::uint8_t* row, std::size_t width);

  // `width` pixels the other way round, to other memory.
  void (*mirror)(const std::uint8_t* row, std::size_t width, std::uint8_t* to);
};

const StoreKernels& store_kernels(Simd wanted);

extern const StoreKernels kScalarStore;

}  // namespace penstock::image
