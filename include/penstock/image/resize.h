// Antialiased resizing of 8-bit pictures, equal to Pillow's filters byte for byte, and the geometry of the two usual
// ImageNet pipelines around it.
//
// Filters grow with the scale when shrinking, so every input pixel counts (unlike crop_and_resize). Weights are fixed
// point with 22 bits; rows and columns are resized one after the other, with bytes between. Values are those of Pillow
// 13, hence of torchvision on PIL images: rows first, but columns first where height - new height is above 0 and above
// 2 * (width - new width). Pillow 12 and older always took rows first, which differs by 1 in some values of such
// pictures. All instruction sets give the same bytes.
//
// Safe from any number of threads; a thread keeps its tables and some rows for its life. 400 x 300 to 224 x 224 costs
// 0.06 ms with AVX-512, 0.12 ms with AVX2, 0.5-0.8 ms without SIMD (`penstock-bench --benchmark_filter=ResizeWindow`).
//
//   namespace im = ps::image;
//   im::Window window = im::random_crop({view.height, view.width}, uniform);
//   ps::Tensor train = im::resize(view.window(window), {224, 224});
//   ps::Tensor eval = im::resize_and_centre_crop(view, 256, {224, 224});
//   ps::Tensor place(ps::DType::f16, {224, 224, 3});
//   im::resize(view, {224, 224}, im::output_of(place, im::Layout::nhwc), {.filter = im::Filter::bicubic});
#pragma once

#include <penstock/image/output.h>
#include <penstock/image/view.h>
#include <penstock/tensor.h>

#include <cstdint>
#include <functional>
#include <span>

#pragma GCC visibility push(default)

namespace penstock::image {

// A rectangle of an image in fractions of pixels, 0 <= left < right <= width, 0 <= upper < lower <= height.
struct Region {
  float left = 0;
  float upper = 0;
  float right = 0;
  float lower = 0;
};

enum class Filter : std::uint8_t {
  nearest,   // the one pixel under the middle
  bilinear,  // a triangle of 2 pixels' width, or of 2 new pixels' width when shrinking
  bicubic,   // Keys' cubic with a = -0.5, of 4 pixels' width
};

struct ResizeOptions {
  Filter filter = Filter::bilinear;  // between pixels
};

// The whole view to `size`; out has size.height * size.width * 3 bytes. To resize a part whose
// surroundings do not show, as RandomResizedCrop does, give image.window(...).
// Error(invalid_argument) for a size that is not positive or another length of out.
void resize(const ImageView& image, Size size, std::span<std::uint8_t> out, const ResizeOptions& options = {});
void resize(const ImageView& image, Size size, const Output& out, const ResizeOptions& options = {});
Tensor resize(const ImageView& image, Size size, const ResizeOptions& options = {});

// A region of the image to `size`; the filter may reach beyond the region up to the image's edge.
// This is Pillow's Image.resize(size, filter, box). Error(invalid_argument) also for a region
// that leaves the image or is empty.
void resize(const ImageView& image, const Region& region, Size size, std::span<std::uint8_t> out,
            const ResizeOptions& options = {});
Tensor resize(const ImageView& image, const Region& region, Size size, const ResizeOptions& options = {});

// The pixels that resize() reads for a region of an image of this size. Errors as there.
Window resize_source(Size image, const Region& region, Size size, const ResizeOptions& options = {});

// The same of an image of which a part is there. Error(invalid_argument) also if the part lacks a pixel of
// resize_source().
void resize(const ImagePart& image, Size size, const Output& out, const ResizeOptions& options = {});
void resize(const ImagePart& image, const Region& region, Size size, const Output& out,
            const ResizeOptions& options = {});

// resize() with Filter::bilinear.
void resize_bilinear(const ImageView& image, Size size, std::span<std::uint8_t> out);
Tensor resize_bilinear(const ImageView& image, Size size);
void resize_bilinear(const ImageView& image, const Region& region, Size size, std::span<std::uint8_t> out);
Tensor resize_bilinear(const ImageView& image, const Region& region, Size size);

// The size of an image whose shorter side becomes `shorter`; the longer one is
// trunc(shorter * longer side / shorter side).
Size shorter_side_size(Size image, std::int64_t shorter);

// The middle of an image: offset (n - crop) / 2, halves rounded to even as Python's round does.
// Error(invalid_argument) if it is larger than the image.
Window centre_window(Size image, Size crop);

// Resize of the shorter side to `shorter`, then the centre (torchvision's Resize and CenterCrop).
// Only the pixels of the crop are computed.
void resize_and_centre_crop(const ImageView& image, std::int64_t shorter, Size crop, std::span<std::uint8_t> out,
                            const ResizeOptions& options = {});
Tensor resize_and_centre_crop(const ImageView& image, std::int64_t shorter, Size crop,
                              const ResizeOptions& options = {});
void resize_and_centre_crop(const ImageView& image, std::int64_t shorter, Size crop, const Output& out,
                            const ResizeOptions& options = {});

// The pixels that resize_and_centre_crop reads of an image of this size.
Window centre_crop_source(Size image, std::int64_t shorter, Size crop, const ResizeOptions& options = {});

// resize_and_centre_crop of the image that this is a part of. Error(invalid_argument) also if the part lacks a pixel of
// centre_crop_source().
void resize_and_centre_crop(const ImagePart& image, std::int64_t shorter, Size crop, std::span<std::uint8_t> out,
                            const ResizeOptions& options = {});
void resize_and_centre_crop(const ImagePart& image, std::int64_t shorter, Size crop, const Output& out,
                            const ResizeOptions& options = {});

// A number from [0, 1), another one at each call.
using Uniform = std::function<double()>;

// torchvision's RandomResizedCrop, its defaults.
struct RandomCropOptions {
  double min_area = 0.08;        // least share of the image's area
  double max_area = 1.0;         // and largest
  double min_ratio = 3.0 / 4.0;  // least width : height
  double max_ratio = 4.0 / 3.0;  // and largest
  int tries = 10;                // windows drawn before the central one is taken
};

// Where RandomResizedCrop cuts: up to `tries` windows of uniform area and log-uniform ratio, the
// first that fits at a uniform place; else the largest central window whose ratio is allowed. Two
// numbers are drawn for each try and two for the place. Error(invalid_argument) for an empty image
// or options that are not 0 < min <= max.
Window random_crop(Size image, const Uniform& uniform, const RandomCropOptions& options = {});

}  // namespace penstock::image

#pragma GCC visibility pop
