// crop_and_resize: boxes cut out of an image and resized without antialiasing, equal to
// TensorFlow's tf.image.crop_and_resize (kernel crop_and_resize_op.cc) bit for bit.
//
// A box is (ymin, xmin, ymax, xmax) in units of the image, where 0 is the centre of the first row
// or column and 1 the centre of the last one. Results are f32 in 0..255, one float32 operation
// after the other and none of them fused. What to know about it:
//  - Positions outside [0, H-1] x [0, W-1] become `extrapolation`, without tolerance: VOC boxes at
//    the right or bottom edge (xmax == W) get black columns or rows, and so does the whole image
//    at width 500 -> 224, by rounding.
//  - A box with ymin > ymax or xmin > xmax is mirrored; one of no area repeats a line or a point.
//  - A result of one row or column is taken from the middle of the box.
//  - Shrinking skips pixels: see resize.h where an antialiased picture is wanted.
//
// Safe from any number of threads. The same bits with each Simd. 256 x 256 from 500 x 375 costs 0.04 ms with AVX-512,
// 0.06 with AVX2, 0.24 scalar (`penstock-bench --benchmark_filter=CropAndResize`).
//
//   std::vector<ps::image::Box> boxes{{0, 0, 1, 1}, {0.1F, 0.2F, 0.9F, 1.1F}};
//   ps::Tensor crops = ps::image::crop_and_resize(view, boxes, {256, 256});
//   crops.shape()  ->  [2, 256, 256, 3]
#pragma once

#include <penstock/image/output.h>
#include <penstock/image/view.h>
#include <penstock/tensor.h>

#include <cstdint>
#include <span>

#pragma GCC visibility push(default)

namespace penstock::image {

// Corners as fractions of height - 1 and width - 1. The default is the whole image.
struct Box {
  float ymin = 0;
  float xmin = 0;
  float ymax = 1;
  float xmax = 1;

  friend bool operator==(const Box&, const Box&) = default;
};

enum class Interpolation : std::uint8_t {
  bilinear,  // between the four neighbours
  nearest,   // the nearest pixel; halves away from zero
};

struct CropOptions {
  Interpolation method = Interpolation::bilinear;  // between pixels
  float extrapolation = 0;                         // value of positions outside the image
};

// One box into the caller's memory: out has size.height * size.width * 3 values, row by row, RGB
// interleaved. Error(invalid_argument): a corner that is not finite, a size that is not positive, a
// span of another length.
void crop_and_resize(const ImageView& image, const Box& box, Size size, std::span<float> out,
                     const CropOptions& options = {});

// The same from the part of the image that the box needs. Error(invalid_argument) also if a pixel that it needs is not
// in the part.
void crop_and_resize(const ImagePart& image, const Box& box, Size size, std::span<float> out,
                     const CropOptions& options = {});

// The same, written as `out` says: in each type the value nearest to the f32 one, or to that normalised, also outside
// the image. Error(invalid_argument) also for another type than f32, f16, bf16 and u8, a normaliser with u8, memory
// that has not as many bytes as the result or is not aligned to its values, a Simd that the CPU lacks.
void crop_and_resize(const ImagePart& image, const Box& box, Size size, const Output& out,
                     const CropOptions& options = {});

// All boxes into a new tensor f32 [boxes, height, width, 3]; no boxes give [0, height, width, 3].
Tensor crop_and_resize(const ImageView& image, std::span<const Box> boxes, Size size, const CropOptions& options = {});

// The pixels that crop_and_resize reads for these boxes: the smallest window that holds them all. Where it reads none,
// as all positions lie outside the image, the window is the first pixel. Error(invalid_argument): as crop_and_resize,
// or an empty image.
//
//   std::vector<ps::image::Box> all{{0.1F, 0.2F, 0.5F, 0.6F}, {0.3F, 0.2F, 0.9F, 0.7F}};
//   thread_local ps::ByteBuffer buffer;
//   const auto needed = [&](ps::image::Size image) { return ps::image::source_window(image, all, {256, 256}); };
//   ps::image::ImagePart part = ps::image::decode_jpeg(bytes, needed, buffer);
Window source_window(Size image, std::span<const Box> boxes, Size size, const CropOptions& options = {});

}  // namespace penstock::image

#pragma GCC visibility pop
