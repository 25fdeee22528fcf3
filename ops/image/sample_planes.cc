#include "ops/image/sample_planes.h"

#include <algorithm>
#include <cstring>

namespace penstock::image {
namespace {

constexpr std::size_t whole_lines(std::int64_t samples) {
  return static_cast<std::size_t>(divided_up(samples, 64)) * 64;
}

}  // namespace

void SamplePlanes::begin(const JpegHeaders& headers, std::int64_t first, std::int64_t count, Simd simd) {
  headers_ = &headers;
  kernels_ = &ycc_kernels(simd);
  first_column_ = first * 8 * headers.across;
  width_ = std::min(headers.width - first_column_, count * 8 * headers.across);
  for (std::size_t c = 0; c < static_cast<std::size_t>(headers.components); ++c)
    begin_plane(planes_[c], headers.component[c], first, count);
  for (auto& row : enlarged_) row.resize(whole_lines(width_) + 2 * kSampleMargin);
}

// Component sizes: A.1.1.
void SamplePlanes::begin_plane(Plane& plane, const JpegComponent& component, std::int64_t first,
                               std::int64_t count) const {
  const std::int64_t samples = 8 * component.across;
  const std::int64_t all = divided_up(headers_->width * component.across, headers_->across);
  plane.width = std::min(all - first * samples, count * samples);
  plane.height = divided_up(headers_->height * component.down, headers_->down);
  plane.rows = 8 * component.down;
  plane.at_left = first == 0;
  plane.at_right = first * samples + plane.width == all;
  plane.stride = whole_lines(count * samples) + 2 * kSampleMargin;
  plane.memory.resize(static_cast<std::size_t>(plane.rows + 1) * plane.stride);
}

std::uint8_t* SamplePlanes::row(std::size_t component, std::int64_t y) {
  Plane& plane = planes_[component];
  return plane.memory.data() + static_cast<std::size_t>(y + 1) * plane.stride + kSampleMargin;
}

// At the image's edges, neighbours are the samples themselves.
void SamplePlanes::finish(std::int64_t mcu_row) {
  first_row_ = mcu_row * 8 * headers_->down;
  if (headers_->across == 1) return;
  for (std::size_t c = 1; c < static_cast<std::size_t>(headers_->components); ++c) {
    const Plane& plane = planes_[c];
    for (std::int64_t y = 0; y < plane.rows; ++y) {
      std::uint8_t* const samples = row(c, y);
      if (plane.at_left) samples[-1] = samples[0];
      if (plane.at_right) samples[plane.width] = samples[plane.width - 1];
    }
  }
}

void SamplePlanes::keep_last() {
  for (std::size_t c = 0; c < static_cast<std::size_t>(headers_->components); ++c) {
    const Plane& plane = planes_[c];
    std::memcpy(row(c, -1) - kSampleMargin, row(c, plane.rows - 1) - kSampleMargin, plane.stride);
  }
}

std::int64_t SamplePlanes::rows_until(std::int64_t mcu_row) const {
  const std::int64_t end = (mcu_row + 1) * 8 * headers_->down;
  if (end >= headers_->height) return headers_->height;
  return headers_->down == 1 ? end : end - 1;
}

// A row of a colour beside row `y` of the pixels, as wide as they are.
const std::uint8_t* SamplePlanes::colour_row(std::size_t component, std::int64_t y) {
  const bool is_tall = headers_->down == 2;
  const std::int64_t first = first_row_ / headers_->down;  // row 0 of the plane, in the component
  const std::int64_t middle = is_tall ? y >> 1 : y;
  const bool is_lower = (y & 1) != 0;
  const std::int64_t other =
      std::clamp<std::int64_t>(is_lower ? middle + 1 : middle - 1, 0, planes_[component].height - 1);
  const std::uint8_t* const nearer = row(component, middle - first);
  if (!is_tall && headers_->across == 1) return nearer;
  std::uint8_t* const out = enlarged_[component - 1].data() + kSampleMargin;
  const auto width = static_cast<std::size_t>(divided_up(width_, headers_->across));
  if (!is_tall)
    kernels_->double_across(nearer, width, out);
  else if (headers_->across == 1)
    kernels_->mix_rows(nearer, row(component, other - first), width, is_lower, out);
  else
    kernels_->double_both(nearer, row(component, other - first), width, out);
  return out;
}

void SamplePlanes::write(std::int64_t y, std::uint8_t* out) {
  const std::uint8_t* const bright = row(0, y - first_row_);
  const auto width = static_cast<std::size_t>(width_);
  if (headers_->components == 1) return kernels_->grey(bright, width, out);
  kernels_->rgb(bright, colour_row(1, y), colour_row(2, y), width, out);
}

}  // namespace penstock::image
