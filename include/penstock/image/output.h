// Output: where the values of a sample go, and what they are. The last step of a chain of image functions writes them
// there once, in their final type, order and place, which may be one in a batch.
//
//   ps::Tensor batch(ps::DType::f16, {128, 3, 224, 224});
//   ps::Tensor place = batch.row(7);
//   static const ps::image::Normaliser normaliser;
//   ps::image::Output out = ps::image::output_of(place, ps::image::Layout::nchw);
//   out.normaliser = &normaliser;
//   out.mirror = ps::image::Mirror::yes;
//   ps::image::resize(view, {224, 224}, out);
#pragma once

#include <penstock/image/convert.h>
#include <penstock/image/simd.h>
#include <penstock/image/view.h>
#include <penstock/tensor.h>

#include <cstddef>
#include <span>

#pragma GCC visibility push(default)

namespace penstock::image {

struct Output {
  std::span<std::byte> memory;  // of height * width * 3 values, aligned to their size
  DType type = DType::f32;      // f32, f16, bf16 or u8
  Layout layout = Layout::nhwc;
  Mirror mirror = Mirror::no;  // whether the picture is mirrored left to right

  // Null: values are 0..255, those between two of the type rounded to the nearest, halves to even. With one:
  // normalised. Not with u8.
  const Normaliser* normaliser = nullptr;

  // Writes past the caches, for memory that is not read soon and larger than they are. What was written is visible to
  // whoever gets it from this thread in the usual ways.
  bool stream = false;

  Simd simd = Simd::automatic;
};

// The memory of a tensor of shape [height, width, 3] (nhwc) or [3, height, width] (nchw). Error(invalid_argument) for
// other shapes and types.
Output output_of(Tensor& values, Layout layout);

// The pixels as `out` says: mirrored, normalised, in its type and layout. Error(invalid_argument) for memory of another
// length, or not aligned to its values, and for normalised bytes.
void store(const ImageView& image, const Output& out);

// The picture's size by the shape of such a tensor.
Size size_of(const Tensor& values, Layout layout);

}  // namespace penstock::image

#pragma GCC visibility pop
