// libjpeg's decompressor as an object. libjpeg reports errors by a function that must not return;
// here that function is longjmp, and the calls that can end in it stand in small functions without
// C++ objects.
#pragma once

#include <penstock/image/jpeg.h>

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/image/libjpeg.h"

namespace penstock::image {

// Error handling of one decompressor. libjpeg hands the address of `base` back, which is also the struct's.
struct JpegErrorState {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  bool reject_truncated;
  bool truncated;
  long warnings;
  char first_warning[JMSG_LENGTH_MAX];
  int code;  // one of jerror.h's, or too_many_scans
  char text[JMSG_LENGTH_MAX];
};

// Not thread-safe: one for each thread. A failed call leaves it ready for the next image.
class JpegDecompressor {
 public:
  static constexpr int too_many_scans = -1;

  JpegDecompressor();
  ~JpegDecompressor();
  JpegDecompressor(const JpegDecompressor&) = delete;
  JpegDecompressor& operator=(const JpegDecompressor&) = delete;

  // Takes the file, which must stay until the image is read or dropped, and reads up to its first
  // scan. False: error() tells why.
  bool read_header(std::span<const std::byte> file, const DecodeOptions& options) noexcept;

  // After read_header: gets ready to read the rows of `window`, which lies in the image. They may be wider than the
  // window, since libjpeg cuts at borders of blocks.
  bool start(const Window& window) noexcept;

  // After start: the width of the rows to come, and the first column of the window in them.
  std::int64_t row_width() const noexcept { return info_.output_width; }
  std::int64_t first_column() const noexcept { return window_.x - first_decoded_column_; }

  // After start: the window's rows as RGB, `stride` bytes apart. Of what the file holds below them
  // only the end is looked for.
  bool read_rows(std::uint8_t* out, std::size_t stride) noexcept;

  // After read_header: forget the image.
  void drop() noexcept;

  const jpeg_decompress_struct& info() const noexcept { return info_; }
  const JpegErrorState& error() const noexcept { return error_; }

 private:
  bool create() noexcept;
  void crop_columns();

  jpeg_decompress_struct info_ = {};
  JpegErrorState error_ = {};
  jpeg_progress_mgr progress_ = {};
  Window window_;
  std::int64_t first_decoded_column_ = 0;
};

}  // namespace penstock::image
