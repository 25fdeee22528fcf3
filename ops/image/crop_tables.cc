#include "ops/image/crop_tables.h"

#include <penstock/image/view.h>

#include <algorithm>

namespace penstock::image {
namespace {

constexpr std::size_t group = 16;  // values of the longest vector

std::size_t rounded_up(std::size_t count) { return (count + group - 1) / group * group; }

std::uint32_t byte_at(std::int32_t offset) { return static_cast<std::uint32_t>(offset) | crop_zeros; }

}  // namespace

void CropTables::build(const CropAxis& axis, std::int64_t start, std::int64_t width, const CropKernels& kernels) {
  set_pixels(axis, start);
  gather_ = Gather::one_by_one;
  columns_.values = 0;
  if (!kernels.mix_columns[static_cast<std::size_t>(Gather::two_pixels)]) return;
  set_values();
  gather_ = chosen(width * channels, kernels);
}

void CropTables::set_pixels(const CropAxis& axis, std::int64_t start) {
  columns_.pixels = axis.last - axis.first;
  std::int32_t* const left = left_.resize(columns_.pixels);
  std::int32_t* const right = right_.resize(columns_.pixels);
  const auto from = static_cast<std::int32_t>(start);
  for (std::size_t x = 0; x < columns_.pixels; ++x) {
    left[x] = (axis.low[axis.first + x] - from) * 3;
    right[x] = (axis.high[axis.first + x] - from) * 3;
  }
  columns_.left = left;
  columns_.right = right;
  columns_.fraction =
      std::copy_n(axis.fraction.data() + axis.first, columns_.pixels, fraction_.resize(columns_.pixels)) -
      columns_.pixels;
}

// The last pixel fills the last group.
void CropTables::set_values() {
  columns_.values = rounded_up(channels * columns_.pixels);
  std::int32_t* const left = left_value_.resize(columns_.values + channels);
  std::int32_t* const right = right_value_.resize(columns_.values + channels);
  float* const fraction = value_fraction_.resize(columns_.values + channels);
  for (std::size_t i = 0; i < columns_.values; i += channels) {
    const std::size_t x = std::min(i / channels, columns_.pixels - 1);
    for (std::int32_t c = 0; c < channels; ++c) {
      left[i + static_cast<std::size_t>(c)] = columns_.left[x] + c;
      right[i + static_cast<std::size_t>(c)] = columns_.right[x] + c;
      fraction[i + static_cast<std::size_t>(c)] = columns_.fraction[x];
    }
  }
  columns_.value_fraction = fraction;
  columns_.left_byte = left_byte_.resize(columns_.values);
  columns_.right_byte = right_byte_.resize(columns_.values);
  columns_.begin = begin_.resize(columns_.values / 2);
}

Gather CropTables::chosen(std::int64_t row_bytes, const CropKernels& kernels) {
  const auto has = [&](Gather one) { return kernels.mix_columns[static_cast<std::size_t>(one)] != nullptr; };
  if (has(Gather::bytes_64) && read_together(16, 64, row_bytes)) return Gather::bytes_64;
  if (has(Gather::bytes_128) && read_together(16, 128, row_bytes)) return Gather::bytes_128;
  if (has(Gather::bytes_16) && read_together(4, 16, row_bytes)) return Gather::bytes_16;
  if (read_two_pixels(row_bytes)) return Gather::two_pixels;
  return Gather::one_by_one;
}

// Each group of `values` from `bytes` read together; false if some group lies further apart.
bool CropTables::read_together(std::size_t values, std::int32_t bytes, std::int64_t row_bytes) {
  if (row_bytes < bytes) return false;
  const auto last_begin = static_cast<std::int32_t>(row_bytes - bytes);
  for (std::size_t at = 0; at < columns_.values; at += values) {
    const std::int32_t* const left = left_value_.data() + at;
    const std::int32_t* const right = right_value_.data() + at;
    // Colours of one pixel may be cut off at either end of the group, so all have to be looked at.
    const std::int32_t low = *std::min_element(left, left + values);
    const std::int32_t high = *std::max_element(right, right + values);
    const std::int32_t begin = std::min(low, last_begin);
    if (high - begin >= bytes) return false;
    begin_.data()[at / values] = begin;
    for (std::size_t i = 0; i < values; ++i) {
      left_byte_.data()[at + i] = byte_at(left[i] - begin);
      right_byte_.data()[at + i] = byte_at(right[i] - begin);
    }
  }
  return true;
}

// Four values belong to two pixels: 8 bytes from the left neighbour of each hold its right one, too.
bool CropTables::read_two_pixels(std::int64_t row_bytes) {
  if (row_bytes < 8) return false;
  const auto last_begin = static_cast<std::int32_t>(row_bytes - 8);
  for (std::size_t at = 0; at < columns_.values; at += 4) {
    const std::size_t first = at / channels;
    for (std::size_t k = 0; k < 2; ++k)
      begin_.data()[at / 2 + k] = std::min(columns_.left[std::min(first + k, columns_.pixels - 1)], last_begin);
    for (std::size_t i = at; i < at + 4; ++i) {
      const std::size_t k = i / channels - first;
      const std::int32_t origin = begin_.data()[at / 2 + k] - static_cast<std::int32_t>(8 * k);
      left_byte_.data()[i] = byte_at(left_value_.data()[i] - origin);
      right_byte_.data()[i] = byte_at(right_value_.data()[i] - origin);
    }
  }
  return true;
}

}  // namespace penstock::image
