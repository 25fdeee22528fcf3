// Kernels of crop_and_resize: a row of the window mixed along x, and two such rows mixed and written to their place.
// All instruction sets give the same bits.
#pragma once

#include <penstock/image/simd.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock::image {

// How the bytes of left and right neighbours come into vectors: by one byte permutation of some bytes read together.
// Which way can be gone depends on how far apart the neighbours are, and on the instruction set.
enum class Gather : std::uint8_t {
  one_by_one,  // no vectors
  two_pixels,  // 4 values from 2 x 8 bytes, those at the two pixels that they belong to: any distance
  bytes_16,    // 4 values from 16 bytes
  bytes_64,    // 16 values from 64 bytes
  bytes_128,   // 16 values from 128 bytes
};
inline constexpr std::size_t gathers = 5;

// Where the values of a mixed row come from in a row of the window. Memory of CropTables; see crop_tables.h.
struct CropColumns {
  std::size_t pixels = 0;

  // Of each pixel: its neighbours' first bytes in the row, and its place between them.
  const std::int32_t* left = nullptr;
  const std::int32_t* right = nullptr;
  const float* fraction = nullptr;

  // Not for Gather::one_by_one. `values` is 3 * pixels, rounded up to whole groups of 16.
  std::size_t values = 0;
  const std::int32_t* begin = nullptr;       // of each read: its first byte in the row
  const std::uint32_t* left_byte = nullptr;  // of each value: the byte among those read, with crop_zeros above it
  const std::uint32_t* right_byte = nullptr;
  const float* value_fraction = nullptr;
};

// The bytes that Highway's TableLookupBytesOr0 makes 0; AVX-512's permutations ignore them.
inline constexpr std::uint32_t crop_zeros = 0x80808000;

// Two mixed rows, and how far between them the result lies.
struct RowPair {
  const float* top = nullptr;
  const float* bottom = nullptr;
  float fraction = 0;
  const float* mean = nullptr;  // of each value, if it is to be normalised
  const float* deviation = nullptr;
};

struct CropKernels {
  // `to` has room for CropColumns::values, or 3 * pixels where that is 0. Null where the instruction set has no such
  // gathering.
  std::array<void (*)(const std::uint8_t* row, const CropColumns& columns, float* to), gathers> mix_columns;

  // Interleaved pixels to three planes that begin `plane` values apart, a multiple of 16. 3 * plane values are read.
  void (*to_planes)(const float* interleaved, std::size_t plane, float* planes);

  // The mixture, normalised if wanted and rounded to the type. `to` is aligned to its values; `stream`: past the
  // caches.
  using Store = void (*)(RowPair rows, void* to, std::size_t count, bool stream);
  Store store_f32, store_f16, store_bf16, store_u8;
};

const CropKernels& crop_kernels(Simd wanted);

extern const CropKernels kScalarCrop;

// Of all instruction sets.
void mix_columns_one_by_one(const std::uint8_t* row, const CropColumns& columns, float* to);

}  // namespace penstock::image
