// Kernels of resize.h: the two passes over interleaved 8-bit RGB. Sums are whole numbers of 32 bits, so that every
// instruction set gives the same bytes, which are Pillow's.
//
//   thread_local ResizeTables tables;
//   const ResizePlan plan = plan_of(tables, columns, rows, Simd::automatic);
//   plan.kernels->resize_rows(plan, from, row_bytes, to);        // 4 rows to columns.spans.size() pixels each
//   plan.kernels->resize_columns(plan, i, from, row_bytes, to);  // output row i of rows.spans
#pragma once

#include <penstock/image/simd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/image/taps.h"

namespace penstock::image {

struct ResizePlan;

inline constexpr std::size_t kRowsAtOnce = 4;

// Bytes of memory that a row of `bytes` is written to: kernels write whole vectors.
constexpr std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64 + 64; }

// How a kernel wants the weights of four taps, of which those behind the last are 0.
enum class Packing : std::uint8_t {
  // w0 w1 and w2 w3 as pairs of 16-bit numbers, w = high * 2^11 + low: the two high pairs, the two low ones.
  pairs,
  // w = d2 * 2^16 + d1 * 2^8 + d0 with digits of -128 .. 127: the four d2 as bytes, the d1, the d0.
  digits,
};

struct ResizeKernels {
  Packing packing;

  // Each of kRowsAtOnce rows of `bytes` to the width of the plan's columns. Reads nothing outside the rows. Rows may be
  // the same if their targets are; targets have padded() bytes.
  void (*resize_rows)(const ResizePlan& plan, const std::uint8_t* const* from, std::size_t bytes,
                      std::uint8_t* const* to);

  // One row of `bytes` from those that output `i` is made of: its taps' ones, and behind them any, up to 4 * row_quads.
  // The target has padded() bytes.
  void (*resize_columns)(const ResizePlan& plan, std::size_t i, const std::uint8_t* const* from, std::size_t bytes,
                         std::uint8_t* to);
};

// The weights of an axis by fours, the same number of them for each output.
struct PackedTaps {
  std::size_t quads = 0;
  std::vector<std::int32_t> weights;
};

// For VNNI: 16 values of a row at once, each the sum of bytes that a permutation takes out of a window of 64 or 128
// bytes.
struct alignas(64) Lanes {
  std::int32_t values[16];
};
struct Gathered {
  bool fits = false;                  // whether each window holds all that its 16 values need
  bool is_wide = false;               // windows of 128 bytes
  std::vector<std::int64_t> windows;  // where each one begins, in bytes
  std::vector<Lanes> indices;         // of a window's bytes for the first four taps of each value
  std::vector<Lanes> digits;          // of the weights: d2, d1, d0 of the first four taps, then of the next
};

// What the kernels need of one resize; its memory is used again by the next.
struct ResizeTables {
  PackedTaps columns, rows;
  Gathered gathered;
};

// The same as kernels see it: no functions of the standard library (simd_targets.h).
struct ResizePlan {
  const ResizeKernels* kernels;
  const Taps* columns;  // for the scalar kernels
  const Taps* rows;

  std::size_t pixels;  // of an output row
  const Taps::Span* spans;
  std::size_t column_quads, row_quads;
  const std::int32_t* column_weights;
  const std::int32_t* row_weights;

  std::size_t gathered;  // vectors; 0: the row is resized by pairs
  bool is_wide;
  const std::int64_t* windows;
  const Lanes* indices;
  const Lanes* digits;
};

// Valid until tables, columns or rows change.
ResizePlan plan_of(ResizeTables& tables, const Taps& columns, const Taps& rows, Simd simd);

// Weights of an axis as the packing says.
void pack(PackedTaps& packed, const Taps& taps, Packing packing);

const ResizeKernels& resize_kernels(Simd wanted);

extern const ResizeKernels kScalarResize;

}  // namespace penstock::image
