// Writes the rows of a sample where its Output says, as it says. One thread, any order of rows.
#pragma once

#include <penstock/image/output.h>

#include <cstdint>

#include "ops/image/store_kernels.h"

namespace penstock::image {

class RowWriter {
 public:
  // `function` is whose arguments these are. Error(invalid_argument) for memory of another length or not aligned to its
  // values, a type that is none of pixels, a normaliser of bytes.
  RowWriter(const Output& out, Size size, const char* function);
  ~RowWriter();  // what was streamed is visible to all from here on
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;

  // Row `y`: interleaved pixels from left to right, as they are before they are mirrored.
  void put(std::int64_t y, const std::uint8_t* row) const;

 private:
  RowTarget target(std::int64_t y) const;

  Output out_;
  Size size_;
  const StoreKernels& kernels_;
  const detail::NormaliserTables& how_;
};

}  // namespace penstock::image
