#include <penstock/image/resize.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ops/image/check.h"

namespace penstock::image {
namespace {

constexpr int weight_bits = 22;
constexpr std::int32_t half = 1 << (weight_bits - 1);

// The part of one output axis that is wanted: outputs first .. first + count - 1 of `full`, which
// together show the stretch [begin, end) of an input of `extent` pixels.
struct Stretch {
  float begin, end;
  std::int64_t extent;
  std::int64_t full, first, count;
};

// For each output: its first input pixel, counted from `begin`, how many, and where their weights
// begin.
struct Taps {
  struct Span {
    std::int64_t begin, count;
    std::size_t weights;
  };
  std::vector<Span> spans;
  std::vector<std::int32_t> weights;
  std::int64_t begin, end;  // the part of the input in use
};

struct Workspace {
  Taps rows, columns;
  std::vector<double> exact;
  std::vector<std::int32_t> sums;
  std::vector<std::uint8_t> between;  // the picture after the first pass
};

// Towards zero, after the 0.5 that Pillow adds: not std::lround, which differs for negative
// numbers.
std::int64_t whole_part(double value) { return static_cast<std::int64_t>(value); }

std::int32_t fixed_point(double weight) {
  return static_cast<std::int32_t>(whole_part(weight * (1 << weight_bits) + 0.5));
}

// Clips to a byte after the fixed point is taken away.
std::uint8_t to_byte(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> weight_bits, 0, 255));
}

double scale_of(const Stretch& stretch) {
  return static_cast<double>(stretch.end - stretch.begin) / static_cast<double>(stretch.full);
}

// Where output i of those wanted lies on the input.
double centre_of(const Stretch& stretch, std::int64_t i) {
  return stretch.begin + (static_cast<double>(stretch.first + i) + 0.5) * scale_of(stretch);
}

// The input pixels [begin, end) under the filter around `centre`.
struct Reach {
  std::int64_t begin, end;
};

Reach reach_of(double centre, double scale, std::int64_t extent) {
  const double reach = std::max(scale, 1.0);
  return {std::max<std::int64_t>(whole_part(centre - reach + 0.5), 0), std::min(whole_part(centre + reach + 0.5), extent)};
}

// That of all outputs.
Reach reach_of(const Stretch& stretch) {
  const double scale = scale_of(stretch);
  return {reach_of(centre_of(stretch, 0), scale, stretch.extent).begin,
          reach_of(centre_of(stretch, stretch.count - 1), scale, stretch.extent).end};
}

// The triangle filter around `centre`, in Pillow's order of operations (Resample.c,
// precompute_coeffs).
Taps::Span add_taps(Taps& taps, std::vector<double>& exact, double centre, double scale,
                    std::int64_t extent) {
  const double reach = std::max(scale, 1.0);
  const auto [begin, end] = reach_of(centre, scale, extent);
  exact.clear();
  double total = 0;
  for (std::int64_t x = begin; x < end; ++x) {
    const double distance = std::abs((static_cast<double>(x) - centre + 0.5) * (1 / reach));
    exact.push_back(std::max(0.0, 1 - distance));
    total += exact.back();
  }
  const Taps::Span span{begin, end - begin, taps.weights.size()};
  for (const double weight : exact) taps.weights.push_back(fixed_point(weight / total));
  return span;
}

void build_taps(Taps& taps, std::vector<double>& exact, const Stretch& stretch) {
  const double scale = scale_of(stretch);
  taps.spans.clear();
  taps.weights.clear();
  for (std::int64_t i = 0; i < stretch.count; ++i)
    taps.spans.push_back(add_taps(taps, exact, centre_of(stretch, i), scale, stretch.extent));
  taps.begin = taps.spans.front().begin;
  taps.end = taps.spans.back().begin + taps.spans.back().count;
  for (Taps::Span& span : taps.spans) span.begin -= taps.begin;
}

void resize_row(const std::uint8_t* from, const Taps& columns, std::uint8_t* to) {
  for (const Taps::Span& span : columns.spans) {
    const std::uint8_t* pixel = from + span.begin * channels;
    const std::int32_t* weight = columns.weights.data() + span.weights;
    std::int32_t red = half, green = half, blue = half;
    for (std::int64_t i = 0; i < span.count; ++i, pixel += channels) {
      red += pixel[0] * weight[i];
      green += pixel[1] * weight[i];
      blue += pixel[2] * weight[i];
    }
    *to++ = to_byte(red);
    *to++ = to_byte(green);
    *to++ = to_byte(blue);
  }
}

void resize_columns(const ImageView& image, const Taps& rows, std::vector<std::int32_t>& sums,
                    std::uint8_t* to) {
  const auto row_bytes = static_cast<std::size_t>(image.width * channels);
  for (const Taps::Span& span : rows.spans) {
    sums.assign(row_bytes, half);
    for (std::int64_t i = 0; i < span.count; ++i) {
      const std::uint8_t* from = image.row(span.begin + i);
      const std::int32_t weight = rows.weights[span.weights + static_cast<std::size_t>(i)];
      for (std::size_t x = 0; x < row_bytes; ++x) sums[x] += from[x] * weight;
    }
    for (std::size_t x = 0; x < row_bytes; ++x) *to++ = to_byte(sums[x]);
  }
}

void resize_rows(const ImageView& image, const Taps& columns, std::uint8_t* to) {
  const auto row_bytes = static_cast<std::int64_t>(columns.spans.size()) * channels;
  for (std::int64_t y = 0; y < image.height; ++y, to += row_bytes)
    resize_row(image.row(y), columns, to);
}

// Pillow's order of the passes, which shows in the bytes between them. Until version 12 it was
// always rows first; version 13 begins with the columns where that saves much
// (python-pillow/Pillow#9549). It looks at whole sizes.
bool columns_first(const Stretch& rows, const Stretch& columns) {
  const std::int64_t fewer_rows = rows.extent - rows.full;
  return fewer_rows > 0 && fewer_rows > 2 * (columns.extent - columns.full);
}

void resample(const ImagePart& image, const Stretch& rows, const Stretch& columns,
              std::uint8_t* out) {
  thread_local Workspace work;
  build_taps(work.rows, work.exact, rows);
  build_taps(work.columns, work.exact, columns);
  const ImageView part =
      cut(image, {work.rows.begin, work.columns.begin, work.rows.end - work.rows.begin, work.columns.end - work.columns.begin},
          "resize");
  const bool swapped = columns_first(rows, columns);
  const Size between{swapped ? rows.count : part.height, swapped ? part.width : columns.count};
  work.between.resize(between.values());
  const ImageView second{work.between.data(), between.height, between.width,
                         between.width * channels};
  if (swapped) {
    resize_columns(part, work.rows, work.sums, work.between.data());
    resize_rows(second, work.columns, out);
  } else {
    resize_rows(part, work.columns, work.between.data());
    resize_columns(second, work.rows, work.sums, out);
  }
}

void check_region(const ImageView& image, const Region& region) {
  const bool inside = region.left >= 0 && region.upper >= 0 && region.left < region.right &&
                      region.upper < region.lower &&
                      region.right <= static_cast<float>(image.width) &&
                      region.lower <= static_cast<float>(image.height);
  if (!inside)
    throw Error(ErrorCode::invalid_argument,
                "resize_bilinear: region x " + std::to_string(region.left) + ".." +
                    std::to_string(region.right) + ", y " + std::to_string(region.upper) + ".." +
                    std::to_string(region.lower) + " is empty or leaves the image of " +
                    std::to_string(image.height) + " x " + std::to_string(image.width));
}

Region whole(const ImageView& image) {
  return {0, 0, static_cast<float>(image.width), static_cast<float>(image.height)};
}

struct CentreCrop {
  Stretch rows, columns;
};

CentreCrop centre_crop(Size image, std::int64_t shorter, Size crop) {
  const Size full = shorter_side_size(image, shorter);
  const Window window = centre_window(full, crop);
  return {{0, static_cast<float>(image.height), image.height, full.height, window.y, window.height},
          {0, static_cast<float>(image.width), image.width, full.width, window.x, window.width}};
}

}  // namespace

void resize_bilinear(const ImageView& image, const Region& region, Size size,
                     std::span<std::uint8_t> out) {
  check_output_size(size, "resize_bilinear");
  check_room(out.size(), size, "resize_bilinear");
  check_region(image, region);
  resample(part_of(image), {region.upper, region.lower, image.height, size.height, 0, size.height},
           {region.left, region.right, image.width, size.width, 0, size.width}, out.data());
}

Tensor resize_bilinear(const ImageView& image, const Region& region, Size size) {
  check_output_size(size, "resize_bilinear");
  Tensor result(DType::u8, {size.height, size.width, channels});
  resize_bilinear(image, region, size, result.values<std::uint8_t>());
  return result;
}

void resize_bilinear(const ImageView& image, Size size, std::span<std::uint8_t> out) {
  resize_bilinear(image, whole(image), size, out);
}

Tensor resize_bilinear(const ImageView& image, Size size) {
  return resize_bilinear(image, whole(image), size);
}

Window centre_crop_source(Size image, std::int64_t shorter, Size crop) {
  const CentreCrop needed = centre_crop(image, shorter, crop);
  const Reach rows = reach_of(needed.rows);
  const Reach columns = reach_of(needed.columns);
  return {rows.begin, columns.begin, rows.end - rows.begin, columns.end - columns.begin};
}

void resize_and_centre_crop(const ImagePart& image, std::int64_t shorter, Size crop,
                            std::span<std::uint8_t> out) {
  const CentreCrop wanted = centre_crop(image.whole, shorter, crop);
  check_room(out.size(), crop, "resize_and_centre_crop");
  resample(image, wanted.rows, wanted.columns, out.data());
}

void resize_and_centre_crop(const ImageView& image, std::int64_t shorter, Size crop,
                            std::span<std::uint8_t> out) {
  resize_and_centre_crop(part_of(image), shorter, crop, out);
}

Tensor resize_and_centre_crop(const ImageView& image, std::int64_t shorter, Size crop) {
  check_output_size(crop, "resize_and_centre_crop");
  Tensor result(DType::u8, {crop.height, crop.width, channels});
  resize_and_centre_crop(image, shorter, crop, result.values<std::uint8_t>());
  return result;
}

}  // namespace penstock::image
