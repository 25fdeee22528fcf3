#include <penstock/image/crop_and_resize.h>

#include <hwy/cache_control.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "ops/image/check.h"
#include "ops/image/crop_axis.h"
#include "ops/image/crop_kernels.h"
#include "ops/image/crop_tables.h"

namespace penstock::image {
namespace {

// One source row, interpolated along x. `row` tells which one it is, so that the next output row can use it again.
struct MixedRow {
  AlignedMemory<float> values;
  std::int64_t row = -1;
};

struct Workspace {
  CropAxis rows, columns;
  CropTables tables;
  MixedRow top, bottom;
  AlignedMemory<float> interleaved, mean, deviation;
};

std::uint32_t rounded_to(DType type, float value) {
  switch (type) {
    case DType::f32: return std::bit_cast<std::uint32_t>(value);
    case DType::f16: return to_f16(value);
    case DType::bf16: return to_bf16(value);
    default: return to_u8(value);
  }
}

// The value's bits in the output's type, for each colour.
using Bits = std::array<std::uint32_t, 3>;

Bits bits_of(float value, const Output& out) {
  Bits bits{};
  for (std::size_t c = 0; c < 3; ++c) {
    float last = value;
    if (const Normaliser* n = out.normaliser)
      last = (value * static_cast<float>(1.0 / 255.0) - n->mean()[c]) / n->deviation()[c];
    bits[c] = rounded_to(out.type, last);
  }
  return bits;
}

CropKernels::Store store_of(const CropKernels& kernels, DType type) {
  switch (type) {
    case DType::f32: return kernels.store_f32;
    case DType::f16: return kernels.store_f16;
    case DType::bf16: return kernels.store_bf16;
    default: return kernels.store_u8;
  }
}

// One box of one picture.
class Crop {
 public:
  Crop(const ImagePart& part, Size size, const Output& out, Workspace& work)
      : part_(part),
        size_(size),
        out_(out),
        work_(work),
        kernels_(crop_kernels(out.simd)),
        store_(store_of(kernels_, out.type)) {}

  void write(float extrapolation) {
    outside_ = bits_of(extrapolation, out_);
    if (!work_.columns.is_outside() && !work_.rows.is_outside()) prepare();
    for (std::size_t y = 0; y < static_cast<std::size_t>(size_.height); ++y) write_row(y);
    if (out_.stream) hwy::FlushStream();
  }

 private:
  bool has_planes() const { return out_.layout == Layout::nchw; }
  std::size_t width() const { return static_cast<std::size_t>(size_.width); }
  std::size_t inside() const { return work_.columns.last - work_.columns.first; }

  void prepare() {
    work_.tables.build(work_.columns, part_.window.x, part_.pixels.width, kernels_);
    plane_ = (inside() + 15) / 16 * 16;
    for (MixedRow* row : {&work_.top, &work_.bottom}) {
      row->values.resize(3 * plane_);
      row->row = -1;
    }
    work_.interleaved.resize(3 * plane_);
    if (out_.normaliser) prepare_normaliser();
  }

  void prepare_normaliser() {
    float* const mean = work_.mean.resize(3 * plane_);
    float* const deviation = work_.deviation.resize(3 * plane_);
    for (std::size_t i = 0; i < 3 * plane_; ++i) {
      const std::size_t c = has_planes() ? i / plane_ : i % 3;
      mean[i] = out_.normaliser->mean()[c];
      deviation[i] = out_.normaliser->deviation()[c];
    }
  }

  void write_row(std::size_t y) {
    const CropAxis& columns = work_.columns;
    if (y < work_.rows.first || y >= work_.rows.last || columns.is_outside()) return fill(y, 0, width());
    fill(y, 0, columns.first);
    fill(y, columns.last, width());
    write_inside(y);
  }

  void write_inside(std::size_t y) {
    RowPair rows = rows_of(y);
    const std::size_t x = work_.columns.first;
    if (!has_planes()) return store_(rows, place(y, x, 0), 3 * inside(), out_.stream);
    for (std::size_t c = 0; c < 3; ++c) {
      store_(rows, place(y, x, c), inside(), out_.stream);
      for (const float** values : {&rows.top, &rows.bottom, &rows.mean, &rows.deviation})
        if (*values) *values += plane_;
    }
  }

  RowPair rows_of(std::size_t y) {
    const std::int64_t top = work_.rows.low[y];
    const std::int64_t bottom = work_.rows.high[y];
    // Going down the image, the row that was below is often the one above now; in a mirrored box it is the reverse.
    if (work_.bottom.row == top || (work_.top.row == bottom && top != bottom)) std::swap(work_.top, work_.bottom);
    RowPair rows{.fraction = work_.rows.fraction[y]};
    rows.top = mixed(work_.top, top);
    rows.bottom = top == bottom ? rows.top : mixed(work_.bottom, bottom);
    if (out_.normaliser) {
      rows.mean = work_.mean.data();
      rows.deviation = work_.deviation.data();
    }
    return rows;
  }

  const float* mixed(MixedRow& kept, std::int64_t row) {
    if (kept.row == row) return kept.values.data();
    const auto mix_columns = kernels_.mix_columns[static_cast<std::size_t>(work_.tables.gather())];
    float* const to = has_planes() ? work_.interleaved.data() : kept.values.data();
    mix_columns(part_.pixels.row(row - part_.window.y), work_.tables.columns(), to);
    if (has_planes()) kernels_.to_planes(to, plane_, kept.values.data());
    kept.row = row;
    return kept.values.data();
  }

  std::byte* place(std::size_t y, std::size_t x, std::size_t c) const {
    const auto height = static_cast<std::size_t>(size_.height);
    const std::size_t value = has_planes() ? (c * height + y) * width() + x : (y * width() + x) * 3 + c;
    return out_.memory.data() + value * size_of(out_.type);
  }

  // Columns [begin, end) of row y are outside the image.
  void fill(std::size_t y, std::size_t begin, std::size_t end) const {
    if (begin == end) return;
    for (std::size_t c = 0; c < 3; ++c) {
      void* const to = place(y, begin, c);
      if (out_.type == DType::f32)
        fill(static_cast<float*>(to), end - begin, std::bit_cast<float>(outside_[c]));
      else if (out_.type == DType::u8)
        fill(static_cast<std::uint8_t*>(to), end - begin, static_cast<std::uint8_t>(outside_[c]));
      else
        fill(static_cast<std::uint16_t*>(to), end - begin, static_cast<std::uint16_t>(outside_[c]));
    }
  }

  template <class Value> void fill(Value* to, std::size_t count, Value value) const {
    const std::size_t step = has_planes() ? 1 : 3;
    for (std::size_t i = 0; i < count; ++i) to[i * step] = value;
  }

  const ImagePart& part_;
  const Size size_;
  const Output& out_;
  Workspace& work_;
  const CropKernels& kernels_;
  const CropKernels::Store store_;
  Bits outside_{};
  std::size_t plane_ = 0;  // values from one plane of a mixed row to the next
};

void check_box(const Box& box) {
  const float corners[] = {box.ymin, box.xmin, box.ymax, box.xmax};
  for (const float corner : corners)
    if (!std::isfinite(corner))
      throw Error(ErrorCode::invalid_argument, "crop_and_resize: a corner of the box is not finite (ymin " +
                                                   std::to_string(box.ymin) + ", xmin " + std::to_string(box.xmin) +
                                                   ", ymax " + std::to_string(box.ymax) + ", xmax " +
                                                   std::to_string(box.xmax) + ")");
}

void check_output(const Output& out, Size size) {
  const DType type = out.type;
  if (!is_pixel_type(type))
    throw Error(ErrorCode::invalid_argument,
                "crop_and_resize: the output must be f32, f16, bf16 or u8, but is " + std::string(to_string(type)));
  if (type == DType::u8 && out.normaliser)
    throw Error(ErrorCode::invalid_argument,
                "crop_and_resize: bytes cannot be normalised; take f32, f16 or bf16, or no normaliser");
  if (out.memory.size() != size.values() * size_of(type))
    throw Error(ErrorCode::invalid_argument, "crop_and_resize: the output needs " +
                                                 std::to_string(size.values() * size_of(type)) +
                                                 " bytes, but its memory has " + std::to_string(out.memory.size()));
  if (reinterpret_cast<std::uintptr_t>(out.memory.data()) % size_of(type) != 0)
    throw Error(ErrorCode::invalid_argument,
                "crop_and_resize: the output's memory is not aligned to values of " + std::string(to_string(type)));
}

void build_axes(Workspace& work, Size image, const Box& box, Size size, Interpolation method) {
  build_axis(work.rows, box.ymin, box.ymax, image.height, size.height, method);
  build_axis(work.columns, box.xmin, box.xmax, image.width, size.width, method);
}

// The pixels that are read; empty if there are none.
Window needed_by(const Workspace& work) {
  if (work.rows.is_outside() || work.columns.is_outside()) return {};
  const Reach rows = reach_of(work.rows), columns = reach_of(work.columns);
  return {rows.first, columns.first, rows.last + 1 - rows.first, columns.last + 1 - columns.first};
}

Window united(const Window& a, const Window& b) {
  if (a == Window{}) return b;
  if (b == Window{}) return a;
  const std::int64_t y = std::min(a.y, b.y), x = std::min(a.x, b.x);
  return {y, x, std::max(a.y + a.height, b.y + b.height) - y, std::max(a.x + a.width, b.x + b.width) - x};
}

thread_local Workspace workspace;

}  // namespace

void crop_and_resize(const ImagePart& image, const Box& box, Size size, const Output& out, const CropOptions& options) {
  check_output_size(size, "crop_and_resize");
  check_output(out, size);
  check_box(box);
  build_axes(workspace, image.whole, box, size, options.method);
  const Window needed = needed_by(workspace);
  if (needed != Window{}) cut(image, needed, "crop_and_resize", "decode the window that source_window() tells");
  if (out.mirror == Mirror::yes) reverse(workspace.columns);
  Crop(image, size, out, workspace).write(options.extrapolation);
}

void crop_and_resize(const ImagePart& image, const Box& box, Size size, std::span<float> out,
                     const CropOptions& options) {
  check_output_size(size, "crop_and_resize");
  check_room(out.size(), size, "crop_and_resize");
  crop_and_resize(image, box, size, Output{.memory = std::as_writable_bytes(out)}, options);
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

Tensor crop_and_resize(const ImageView& image, std::span<const Box> boxes, Size size, const CropOptions& options) {
  check_output_size(size, "crop_and_resize");
  Tensor result(DType::f32, {static_cast<std::int64_t>(boxes.size()), size.height, size.width, channels});
  std::span<float> out = result.values<float>();
  for (const Box& box : boxes) {
    crop_and_resize(image, box, size, out.first(size.values()), options);
    out = out.subspan(size.values());
  }
  return result;
}

}  // namespace penstock::image
