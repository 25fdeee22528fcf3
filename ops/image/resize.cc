#include <penstock/image/resize.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ops/image/check.h"
#include "ops/image/resize_kernels.h"
#include "ops/image/row_writer.h"
#include "ops/image/taps.h"

namespace penstock::image {
namespace {

constexpr const char* kResize = "resize";
constexpr const char* kCentreCrop = "resize_and_centre_crop";

constexpr auto rows_at_once = static_cast<std::int64_t>(kRowsAtOnce);

// Memory of a thread, kept from one picture to the next.
struct Workspace {
  Taps rows, columns;
  ResizeTables tables;
  std::vector<std::uint8_t> between;  // rows after the first pass
  std::vector<std::uint8_t> finished;
  std::vector<const std::uint8_t*> taken;  // the rows that one output row is made of
};

// Pillow's order of the passes, which shows in the bytes between them. Until version 12 it was
// always rows first; version 13 begins with the columns where that saves much
// (python-pillow/Pillow#9549). It looks at whole sizes.
bool columns_first(const Stretch& rows, const Stretch& columns) {
  const std::int64_t fewer_rows = rows.extent - rows.full;
  return fewer_rows > 0 && fewer_rows > 2 * (columns.extent - columns.full);
}

// One resize of the pixels that its taps use.
class Resize {
 public:
  Resize(Workspace& work, const ImageView& part, const RowWriter& writer, Simd simd)
      : work_(work), part_(part), writer_(writer), plan_(plan_of(work.tables, work.columns, work.rows, simd)) {}

  void rows_first() {
    const auto bytes = plan_.pixels * channels;
    // A ring of rows after the first pass: those of one output row, and what a call makes beyond them.
    ring_ = static_cast<std::size_t>(work_.rows.most) + kRowsAtOnce;
    stride_ = padded(bytes);
    work_.between.resize(ring_ * stride_);
    work_.finished.resize(stride_);
    for (std::size_t i = 0; i < work_.rows.spans.size(); ++i) {
      make_rows(work_.rows.spans[i]);
      take_rows(work_.rows.spans[i], [this](std::int64_t y) { return between(y); });
      plan_.kernels->resize_columns(plan_, i, work_.taken.data(), bytes, work_.finished.data());
      writer_.put(static_cast<std::int64_t>(i), work_.finished.data());
    }
  }

  void columns_first() {
    const auto bytes = static_cast<std::size_t>(part_.width * channels);
    ring_ = kRowsAtOnce;
    stride_ = padded(bytes);
    work_.between.resize(ring_ * stride_);
    work_.finished.resize(kRowsAtOnce * padded(plan_.pixels * channels));
    const auto count = static_cast<std::int64_t>(work_.rows.spans.size());
    for (std::int64_t first = 0; first < count; first += rows_at_once)
      finish_rows(first, std::min(first + rows_at_once, count), bytes);
  }

 private:
  std::uint8_t* between(std::int64_t y) const {
    return work_.between.data() + static_cast<std::size_t>(y) % ring_ * stride_;
  }

  // The first pass over the rows that this output row uses and that are not yet there, and over some of the next ones.
  void make_rows(const Taps::Span& span) {
    const std::int64_t end = span.begin + span.count;
    made_ = std::max(made_, span.begin);
    while (made_ < end) {
      const std::int64_t last = std::min(made_ + rows_at_once, part_.height) - 1;
      const std::uint8_t* from[kRowsAtOnce];
      std::uint8_t* to[kRowsAtOnce];
      for (std::size_t i = 0; i < kRowsAtOnce; ++i) {
        const std::int64_t y = std::min(made_ + static_cast<std::int64_t>(i), last);
        from[i] = part_.row(y);
        to[i] = between(y);
      }
      plan_.kernels->resize_rows(plan_, from, static_cast<std::size_t>(part_.width * channels), to);
      made_ = last + 1;
    }
  }

  // Pointers to the rows of one output row, and up to the next multiple of 4 the last one again.
  template <class RowAt> void take_rows(const Taps::Span& span, const RowAt& row_at) {
    work_.taken.clear();
    for (std::int64_t i = 0; i < span.count; ++i) work_.taken.push_back(row_at(span.begin + i));
    work_.taken.resize(4 * plan_.row_quads, work_.taken.back());
  }

  void finish_rows(std::int64_t first, std::int64_t end, std::size_t bytes) {
    const std::uint8_t* from[kRowsAtOnce];
    std::uint8_t* to[kRowsAtOnce];
    for (std::size_t i = 0; i < kRowsAtOnce; ++i) {
      const std::int64_t y = std::min(first + static_cast<std::int64_t>(i), end - 1);
      from[i] = between(y);
      to[i] = work_.finished.data() + static_cast<std::size_t>(y - first) * padded(plan_.pixels * channels);
      if (first + static_cast<std::int64_t>(i) >= end) continue;
      take_rows(work_.rows.spans[static_cast<std::size_t>(y)], [this](std::int64_t row) { return part_.row(row); });
      plan_.kernels->resize_columns(plan_, static_cast<std::size_t>(y), work_.taken.data(), bytes, between(y));
    }
    plan_.kernels->resize_rows(plan_, from, bytes, to);
    for (std::int64_t y = first; y < end; ++y) writer_.put(y, to[y - first]);
  }

  Workspace& work_;
  const ImageView part_;
  const RowWriter& writer_;
  const ResizePlan plan_;
  std::size_t ring_ = 0;    // rows in `between`
  std::size_t stride_ = 0;  // bytes from one to the next
  std::int64_t made_ = 0;   // rows before this one were made, or are not used any more
};

// The pixels that the taps use, wherever they lie in what is there of the image.
ImageView used_part(const ImagePart& image, const Taps& rows, const Taps& columns, const char* function) {
  const char* const advice = function == kCentreCrop ? "decode the window that centre_crop_source() tells"
                                                     : "decode the window that resize_source() tells";
  return cut(image, {rows.begin, columns.begin, rows.end - rows.begin, columns.end - columns.begin}, function, advice);
}

// Positions are counted in float, as Pillow does, which knows each whole number up to here.
void check_extent(Size image, const char* function) {
  constexpr std::int64_t most = (std::int64_t{1} << 24) - 1;
  if (image.height <= most && image.width <= most) return;
  throw Error(ErrorCode::invalid_argument, std::string(function) + ": an image may have at most " +
                                               std::to_string(most) + " rows and columns, but this has " +
                                               std::to_string(image.height) + " x " + std::to_string(image.width) +
                                               "; cut it first");
}

void resample(const ImagePart& image, const Stretch& rows, const Stretch& columns, const Output& out, Filter filter,
              const char* function) {
  thread_local Workspace work;
  const RowWriter writer(out, {rows.count, columns.count}, function);
  build_taps(work.rows, rows, filter);
  build_taps(work.columns, columns, filter);
  Resize pass(work, used_part(image, work.rows, work.columns, function), writer, out.simd);
  columns_first(rows, columns) ? pass.columns_first() : pass.rows_first();
}

void check_region(Size image, const Region& region) {
  const bool inside = region.left >= 0 && region.upper >= 0 && region.left < region.right &&
                      region.upper < region.lower && region.right <= static_cast<float>(image.width) &&
                      region.lower <= static_cast<float>(image.height);
  if (!inside)
    throw Error(ErrorCode::invalid_argument, "resize: region x " + std::to_string(region.left) + ".." +
                                                 std::to_string(region.right) + ", y " + std::to_string(region.upper) +
                                                 ".." + std::to_string(region.lower) +
                                                 " is empty or leaves the image of " + std::to_string(image.height) +
                                                 " x " + std::to_string(image.width));
}

Region all_of(Size image) { return {0, 0, static_cast<float>(image.width), static_cast<float>(image.height)}; }

// Both axes of a resize.
struct Geometry {
  Stretch rows, columns;
};

Geometry region_of(Size image, const Region& region, Size size) {
  check_output_size(size, kResize);
  check_extent(image, kResize);
  check_region(image, region);
  return {{region.upper, region.lower, image.height, size.height, 0, size.height},
          {region.left, region.right, image.width, size.width, 0, size.width}};
}

Geometry centre_crop(Size image, std::int64_t shorter, Size crop) {
  check_extent(image, kCentreCrop);
  const Size full = shorter_side_size(image, shorter);
  const Window window = centre_window(full, crop);
  const Region region = all_of(image);
  return {{0, region.lower, image.height, full.height, window.y, window.height},
          {0, region.right, image.width, full.width, window.x, window.width}};
}

Window source_of(const Geometry& wanted, Filter filter) {
  const Used rows = used_input(wanted.rows, filter), columns = used_input(wanted.columns, filter);
  return {rows.begin, columns.begin, rows.end - rows.begin, columns.end - columns.begin};
}

Output bytes_to(std::span<std::uint8_t> out, Size size, const char* function) {
  check_output_size(size, function);
  check_room(out.size(), size, function);
  return {.memory = std::as_writable_bytes(out), .type = DType::u8};
}

Tensor new_picture(Size size, const char* function) {
  check_output_size(size, function);
  return Tensor(DType::u8, {size.height, size.width, channels});
}

}  // namespace

void resize(const ImagePart& image, const Region& region, Size size, const Output& out, const ResizeOptions& options) {
  const Geometry wanted = region_of(image.whole, region, size);
  resample(image, wanted.rows, wanted.columns, out, options.filter, kResize);
}

void resize(const ImagePart& image, Size size, const Output& out, const ResizeOptions& options) {
  resize(image, all_of(image.whole), size, out, options);
}

void resize(const ImageView& image, Size size, const Output& out, const ResizeOptions& options) {
  resize(part_of(image), size, out, options);
}

void resize(const ImageView& image, const Region& region, Size size, std::span<std::uint8_t> out,
            const ResizeOptions& options) {
  resize(part_of(image), region, size, bytes_to(out, size, kResize), options);
}

Tensor resize(const ImageView& image, const Region& region, Size size, const ResizeOptions& options) {
  Tensor result = new_picture(size, kResize);
  resize(image, region, size, result.values<std::uint8_t>(), options);
  return result;
}

void resize(const ImageView& image, Size size, std::span<std::uint8_t> out, const ResizeOptions& options) {
  resize(image, all_of({image.height, image.width}), size, out, options);
}

Tensor resize(const ImageView& image, Size size, const ResizeOptions& options) {
  return resize(image, all_of({image.height, image.width}), size, options);
}

void resize_bilinear(const ImageView& image, const Region& region, Size size, std::span<std::uint8_t> out) {
  resize(image, region, size, out);
}

Tensor resize_bilinear(const ImageView& image, const Region& region, Size size) { return resize(image, region, size); }

void resize_bilinear(const ImageView& image, Size size, std::span<std::uint8_t> out) { resize(image, size, out); }

Tensor resize_bilinear(const ImageView& image, Size size) { return resize(image, size); }

Window resize_source(Size image, const Region& region, Size size, const ResizeOptions& options) {
  return source_of(region_of(image, region, size), options.filter);
}

Window centre_crop_source(Size image, std::int64_t shorter, Size crop, const ResizeOptions& options) {
  return source_of(centre_crop(image, shorter, crop), options.filter);
}

void resize_and_centre_crop(const ImagePart& image, std::int64_t shorter, Size crop, const Output& out,
                            const ResizeOptions& options) {
  const Geometry wanted = centre_crop(image.whole, shorter, crop);
  resample(image, wanted.rows, wanted.columns, out, options.filter, kCentreCrop);
}

void resize_and_centre_crop(const ImagePart& image, std::int64_t shorter, Size crop, std::span<std::uint8_t> out,
                            const ResizeOptions& options) {
  resize_and_centre_crop(image, shorter, crop, bytes_to(out, crop, kCentreCrop), options);
}

void resize_and_centre_crop(const ImageView& image, std::int64_t shorter, Size crop, const Output& out,
                            const ResizeOptions& options) {
  resize_and_centre_crop(part_of(image), shorter, crop, out, options);
}

void resize_and_centre_crop(const ImageView& image, std::int64_t shorter, Size crop, std::span<std::uint8_t> out,
                            const ResizeOptions& options) {
  resize_and_centre_crop(image, shorter, crop, bytes_to(out, crop, kCentreCrop), options);
}

Tensor resize_and_centre_crop(const ImageView& image, std::int64_t shorter, Size crop, const ResizeOptions& options) {
  Tensor result = new_picture(crop, kCentreCrop);
  resize_and_centre_crop(image, shorter, crop, result.values<std::uint8_t>(), options);
  return result;
}

}  // namespace penstock::image
