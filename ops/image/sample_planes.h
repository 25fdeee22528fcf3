// Samples of the components of a JPEG picture, one row of MCUs at a time, and pixels made of them.
//
// Smooth colour mixes each sample with the rows above and below it (jdsample.c), so the last row of the MCUs above is
// kept, and the last row of pixels comes with the MCUs below.
//
//   planes.begin(headers, first_mcu, mcus, simd);
//   planes.row(c, 8 * y);                       // the transform writes here
//   planes.finish(mcu_row);                     // all samples of this row of MCUs are there
//   planes.write(pixel_row, out);               // planes.width() pixels
//   planes.keep_last();                         // before the next row of MCUs
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ops/image/aligned_memory.h"
#include "ops/image/jpeg_markers.h"
#include "ops/image/ycc_kernels.h"

namespace penstock::image {

class SamplePlanes {
 public:
  // Of MCUs [first, first + count) of each row. `headers` must stay.
  void begin(const JpegHeaders& headers, std::int64_t first, std::int64_t count, Simd simd);

  std::int64_t first_column() const { return first_column_; }  // of the pixels, in the image
  std::int64_t width() const { return width_; }                // pixels of a row

  // Samples of row `y`, 0 .. 8 * down - 1, and -1 for the last one of the MCUs above. Has room for whole groups of
  // blocks.
  std::uint8_t* row(std::size_t component, std::int64_t y);
  std::size_t stride(std::size_t component) const { return planes_[component].stride; }

  void finish(std::int64_t mcu_row);
  void keep_last();

  // Up to here, exclusive, rows of pixels can be written once a row of MCUs is finished.
  std::int64_t rows_until(std::int64_t mcu_row) const;

  // Row `y` of the image, of the MCUs that were finished last or the last one above them.
  void write(std::int64_t y, std::uint8_t* out);

 private:
  struct Plane {
    AlignedMemory<std::uint8_t> memory;
    std::size_t stride = 0;
    std::int64_t width = 0;   // samples that are the image's
    std::int64_t height = 0;  // rows of the whole component
    int rows = 0;             // of an MCU
    bool at_left = false;     // whether they begin or end where the image does
    bool at_right = false;
  };
  struct ColourRows {
    const std::uint8_t* blue;
    const std::uint8_t* red;
  };

  void begin_plane(Plane& plane, const JpegComponent& component, std::int64_t first, std::int64_t count) const;
  const std::uint8_t* colour_row(std::size_t component, std::int64_t y);

  const JpegHeaders* headers_ = nullptr;
  const YccKernels* kernels_ = nullptr;
  std::array<Plane, 3> planes_;
  std::array<AlignedMemory<std::uint8_t>, 2> enlarged_;  // a row of each colour
  std::int64_t first_column_ = 0;
  std::int64_t width_ = 0;
  std::int64_t first_row_ = 0;  // of the pixels of the MCUs that were finished last
};

}  // namespace penstock::image
