// Needs -ffp-contract=off, which .cmake/options.cmake sets everywhere: one fused multiply-add
// changes whole columns.
#include <penstock/image/crop_and_resize.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "ops/image/check.h"

namespace penstock::image {
namespace {

// Where the values of one output axis come from. Positions rise or fall with the index, so those
// inside the image are one run [first, last); outside it the entries mean nothing.
struct Axis {
  std::vector<std::int32_t> low, high;
  std::vector<float> fraction;
  std::size_t first = 0, last = 0;
};

// One source row, interpolated along x. `row` tells which one it is, so that the next output row
// can use it again.
struct MixedRow {
  std::vector<float> values;
  std::int64_t row = -1;
};

struct Workspace {
  Axis rows, columns;
  MixedRow top, bottom;
};

// The position of output i of n on an image axis of `extent` pixels, in the kernel's order of
// operations.
float position(float low, float high, std::int64_t extent, std::int64_t i, std::int64_t n) {
  // Any finite box: the products below could still overflow to inf * 0.
  if (extent == 1) return 0;
  const auto span = static_cast<float>(extent - 1);
  if (n == 1) return static_cast<float>(0.5 * static_cast<double>(low + high) * span);
  const float scale = (high - low) * span / static_cast<float>(n - 1);
  return low * span + static_cast<float>(i) * scale;
}

void set_sample(Axis& axis, std::size_t i, float at, Interpolation method) {
  const float low = method == Interpolation::nearest ? std::round(at) : std::floor(at);
  const float high = method == Interpolation::nearest ? low : std::ceil(at);
  axis.low[i] = static_cast<std::int32_t>(low);
  axis.high[i] = static_cast<std::int32_t>(high);
  axis.fraction[i] = at - low;
}

void build_axis(Axis& axis, float low, float high, std::int64_t extent, std::int64_t n,
                Interpolation method) {
  const auto count = static_cast<std::size_t>(n);
  axis.low.resize(count);
  axis.high.resize(count);
  axis.fraction.resize(count);
  axis.first = axis.last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float at = position(low, high, extent, static_cast<std::int64_t>(i), n);
    // Written so that a NaN, from boxes near the largest float, counts as outside.
    if (!(at >= 0 && at <= static_cast<float>(extent - 1))) continue;
    if (axis.last == axis.first) axis.first = i;
    axis.last = i + 1;
    set_sample(axis, i, at, method);
  }
}

// The image's rows or columns [begin, end) that the axis reads.
struct Range {
  std::int64_t begin = 0, end = 0;
};

Range range_of(const Axis& axis) {
  if (axis.first == axis.last) return {};
  const std::size_t last = axis.last - 1;
  return {std::min(axis.low[axis.first], axis.low[last]), std::int64_t{std::max(axis.high[axis.first], axis.high[last])} + 1};
}

// Counts from `begin` instead of from the image's edge.
void move_origin(Axis& axis, std::int64_t begin) {
  for (std::size_t i = axis.first; i < axis.last; ++i) {
    axis.low[i] -= static_cast<std::int32_t>(begin);
    axis.high[i] -= static_cast<std::int32_t>(begin);
  }
}

float mix(float a, float b, float fraction) { return a + (b - a) * fraction; }

void mix_columns(const std::uint8_t* from, const Axis& columns, float* to) {
  for (std::size_t x = columns.first; x < columns.last; ++x) {
    const std::uint8_t* left = from + columns.low[x] * channels;
    const std::uint8_t* right = from + columns.high[x] * channels;
    const float fraction = columns.fraction[x];
    for (std::size_t c = 0; c < 3; ++c) to[3 * x + c] = mix(left[c], right[c], fraction);
  }
}

void copy_columns(const std::uint8_t* from, const Axis& columns, float* to) {
  for (std::size_t x = columns.first; x < columns.last; ++x)
    std::copy_n(from + columns.low[x] * channels, channels, to + 3 * x);
}

const float* mixed(MixedRow& cache, const ImageView& image, std::int64_t row, const Axis& columns) {
  if (cache.row != row) {
    mix_columns(image.row(row), columns, cache.values.data());
    cache.row = row;
  }
  return cache.values.data();
}

void forget(MixedRow& cache, std::size_t values) {
  cache.values.resize(values);
  cache.row = -1;
}

void bilinear_row(const ImageView& image, Workspace& work, std::size_t y, float* to) {
  const Axis& columns = work.columns;
  const std::int64_t top_row = work.rows.low[y];
  const std::int64_t bottom_row = work.rows.high[y];
  // Going down the image, the row that was below is often the one above now; in a mirrored box it
  // is the reverse.
  if (work.bottom.row == top_row || work.top.row == bottom_row) std::swap(work.top, work.bottom);
  const float* top = mixed(work.top, image, top_row, columns);
  const float* bottom = mixed(work.bottom, image, bottom_row, columns);
  const float fraction = work.rows.fraction[y];
  for (std::size_t i = 3 * columns.first; i < 3 * columns.last; ++i)
    to[i] = mix(top[i], bottom[i], fraction);
}

void fill_outside(const Axis& columns, std::size_t width, float value, float* to) {
  std::fill(to, to + 3 * columns.first, value);
  std::fill(to + 3 * columns.last, to + 3 * width, value);
}

void check_box(const Box& box) {
  const float corners[] = {box.ymin, box.xmin, box.ymax, box.xmax};
  for (const float corner : corners)
    if (!std::isfinite(corner))
      throw Error(ErrorCode::invalid_argument,
                  "crop_and_resize: a corner of the box is not finite (ymin " +
                      std::to_string(box.ymin) + ", xmin " + std::to_string(box.xmin) + ", ymax " +
                      std::to_string(box.ymax) + ", xmax " + std::to_string(box.xmax) + ")");
}

void build_axes(Workspace& work, Size image, const Box& box, Size size, Interpolation method) {
  build_axis(work.rows, box.ymin, box.ymax, image.height, size.height, method);
  build_axis(work.columns, box.xmin, box.xmax, image.width, size.width, method);
}

// Nothing is read where either range is empty.
Window needed_by(const Workspace& work) {
  const Range rows = range_of(work.rows), columns = range_of(work.columns);
  if (rows.begin == rows.end || columns.begin == columns.end) return {};
  return {rows.begin, columns.begin, rows.end - rows.begin, columns.end - columns.begin};
}

// The pixels that are needed, to which both axes refer now.
ImageView prepare(Workspace& work, const ImagePart& image, const Box& box, Size size,
                  Interpolation method) {
  build_axes(work, image.whole, box, size, method);
  const auto values = static_cast<std::size_t>(size.width * channels);
  forget(work.top, values);
  forget(work.bottom, values);
  const Window needed = needed_by(work);
  if (needed == Window{}) {
    work.rows.last = work.rows.first;
    return {};
  }
  move_origin(work.rows, needed.y);
  move_origin(work.columns, needed.x);
  return cut(image, needed, "crop_and_resize");
}

Window united(const Window& a, const Window& b) {
  if (a == Window{}) return b;
  if (b == Window{}) return a;
  const std::int64_t y = std::min(a.y, b.y), x = std::min(a.x, b.x);
  return {y, x, std::max(a.y + a.height, b.y + b.height) - y, std::max(a.x + a.width, b.x + b.width) - x};
}

thread_local Workspace workspace;

}  // namespace

void crop_and_resize(const ImagePart& image, const Box& box, Size size, std::span<float> out,
                     const CropOptions& options) {
  check_output_size(size, "crop_and_resize");
  check_room(out.size(), size, "crop_and_resize");
  check_box(box);
  Workspace& work = workspace;
  const ImageView pixels = prepare(work, image, box, size, options.method);
  const auto width = static_cast<std::size_t>(size.width);
  for (std::size_t y = 0; y < static_cast<std::size_t>(size.height); ++y) {
    float* to = out.data() + y * width * 3;
    if (y < work.rows.first || y >= work.rows.last) {
      std::fill(to, to + 3 * width, options.extrapolation);
      continue;
    }
    if (options.method == Interpolation::nearest)
      copy_columns(pixels.row(work.rows.low[y]), work.columns, to);
    else
      bilinear_row(pixels, work, y, to);
    fill_outside(work.columns, width, options.extrapolation, to);
  }
}

void crop_and_resize(const ImageView& image, const Box& box, Size size, std::span<float> out,
                     const CropOptions& options) {
  crop_and_resize(part_of(image), box, size, out, options);
}

Window source_window(Size image, std::span<const Box> boxes, Size size, const CropOptions& options) {
  check_output_size(size, "source_window");
  if (image.height < 1 || image.width < 1)
    throw Error(ErrorCode::invalid_argument, "source_window: the image is empty; filter such images out before");
  Window result;
  for (const Box& box : boxes) {
    check_box(box);
    build_axes(workspace, image, box, size, options.method);
    result = united(result, needed_by(workspace));
  }
  return result == Window{} ? Window{0, 0, 1, 1} : result;
}

Tensor crop_and_resize(const ImageView& image, std::span<const Box> boxes, Size size,
                       const CropOptions& options) {
  check_output_size(size, "crop_and_resize");
  Tensor result(DType::f32,
                {static_cast<std::int64_t>(boxes.size()), size.height, size.width, channels});
  std::span<float> out = result.values<float>();
  for (const Box& box : boxes) {
    crop_and_resize(image, box, size, out.first(size.values()), options);
    out = out.subspan(size.values());
  }
  return result;
}

}  // namespace penstock::image
