// Our own JPEG decoder: the pixels of libjpeg-turbo (accurate transform, smooth colour), byte for byte, in half the
// time. Baseline and extended sequential Huffman files of 8 bits, one scan, grey or YCbCr as 4:4:4, 4:2:2, 4:2:0 and
// 4:4:0.
//
// It takes a file only as long as everything is as expected. Whatever else there is, even if libjpeg would only warn,
// is a Refusal; the whole picture is libjpeg's then. So results and error texts never depend on which decoder ran.
//
//   OwnJpeg own;
//   Refusal refusal = own.read_header(file, options);
//   if (refusal == Refusal::none) refusal = own.start({.y = 10, .x = 20, .height = 100, .width = 200});
//   // rows of own.row_width() pixels, in which the window begins at column own.first_column()
//   if (refusal == Refusal::none) refusal = own.read_rows(memory, 3 * own.row_width());
//
// The parts, each with its sections of ITU-T T.81: jpeg_markers (headers), huffman (tables), bit_reader and
// entropy_kernels (codes to coefficients), jpeg_scan (MCUs and restart intervals), idct_kernels (coefficients to
// samples), sample_planes and ycc_kernels (samples to pixels).
#pragma once

#include <penstock/image/jpeg.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/image/idct_kernels.h"
#include "ops/image/jpeg_markers.h"
#include "ops/image/jpeg_scan.h"
#include "ops/image/sample_planes.h"

namespace penstock::image {

// Not thread-safe: one for each thread. It keeps the memory of its largest picture: a row of MCUs, and the file's data
// as JpegScan does.
class OwnJpeg {
 public:
  // Takes the file, which must stay until its rows are read. Of the options, those that change pixels, and `simd`.
  Refusal read_header(std::span<const std::byte> file, const DecodeOptions& options);

  // After read_header.
  Size size() const { return {headers_.height, headers_.width}; }

  // After read_header: gets ready for the rows of a window that lies in the image.
  Refusal start(const Window& window);

  // After start, as in JpegDecompressor: rows may be wider than the window.
  std::int64_t row_width() const { return planes_.width(); }
  std::int64_t first_column() const { return window_.x - planes_.first_column(); }

  // After start: the window's rows as RGB, `stride` bytes apart. What lies behind the last one is decoded as far as
  // libjpeg does it, so that damage is seen there, too. What is not none leaves arbitrary pixels.
  Refusal read_rows(std::uint8_t* out, std::size_t stride);

 private:
  // MCUs that are needed, in each direction: [first, end).
  struct Range {
    std::int64_t first = 0;
    std::int64_t end = 0;
  };

  Refusal decode_row();
  bool transform(std::int64_t first, std::int64_t mcus);

  std::span<const std::byte> file_;
  Simd simd_ = Simd::automatic;
  JpegHeaders headers_;
  JpegScan scan_;
  const IdctKernels* idct_ = nullptr;
  std::array<IdctTable, 3> tables_;
  SamplePlanes planes_;
  Window window_;
  Range across_, down_;
};

}  // namespace penstock::image
