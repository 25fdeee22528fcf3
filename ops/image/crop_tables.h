// Tables of crop_and_resize along x, built once for each box.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/image/aligned_memory.h"
#include "ops/image/crop_axis.h"
#include "ops/image/crop_kernels.h"

namespace penstock::image {

class CropTables {
 public:
  // For the columns of `axis` that are inside the image, and rows that begin at column `start` of it and have `width`
  // pixels. No byte outside the rows is read.
  void build(const CropAxis& axis, std::int64_t start, std::int64_t width, const CropKernels& kernels);

  Gather gather() const { return gather_; }
  const CropColumns& columns() const { return columns_; }

 private:
  void set_pixels(const CropAxis& axis, std::int64_t start);
  void set_values();
  Gather chosen(std::int64_t row_bytes, const CropKernels& kernels);
  bool read_together(std::size_t values, std::int32_t bytes, std::int64_t row_bytes);
  bool read_two_pixels(std::int64_t row_bytes);

  Gather gather_ = Gather::one_by_one;
  CropColumns columns_;
  AlignedMemory<std::int32_t> left_, right_, begin_, left_value_, right_value_;
  AlignedMemory<std::uint32_t> left_byte_, right_byte_;
  AlignedMemory<float> fraction_, value_fraction_;
};

}  // namespace penstock::image
