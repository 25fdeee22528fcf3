// Steps that make a sample of a picture, to be called alone or chained with `|`. A chain is one pass: rows are cut out,
// resized, mirrored, normalised and written once, in their type and order, without a picture between.
//
//   namespace im = ps::image;
//   const im::Transform eval = im::ResizeAndCentreCrop{256, {224, 224}} | im::Normalise{} |
//                              im::Convert{ps::DType::f16, im::Layout::nchw};
//   ps::Tensor sample = eval(view);  // f16 [3, 224, 224]
//   ps::Tensor batch(ps::DType::f16, {128, 3, 224, 224});
//   ps::Tensor row = batch.row(7);
//   eval(view, row);                 // the same into a tensor of this type and shape
//   ps::Tensor mirrored = im::Flip{}(view);
//
// A chain knows which pixels it reads, so no others need to be decoded:
//
//   const ps::image::Transform frame = ps::image::ResizeAndCentreCrop{256, {224, 224}} | ps::image::Flip{};
//   thread_local ps::ByteBuffer buffer;
//   const auto needed = [&](ps::image::Size image) { return frame.source(image); };
//   ps::Tensor sample = frame(ps::image::decode_jpeg(bytes, needed, buffer));
//
// The order is Crop, then Resize, ResizeAndCentreCrop or CropAndResize, Flip, Normalise, Convert; each may be left out.
// What else is chained is an Error(invalid_argument) at once. Values are those of the functions of image/resize.h,
// image/crop_and_resize.h and image/output.h. Safe from any number of threads. Normalise computes a table, some
// microseconds: make a chain once and keep it where its steps do not change.
#pragma once

#include <penstock/image/convert.h>
#include <penstock/image/crop_and_resize.h>
#include <penstock/image/output.h>
#include <penstock/image/resize.h>
#include <penstock/image/view.h>
#include <penstock/tensor.h>

#include <cstdint>
#include <memory>
#include <optional>

#pragma GCC visibility push(default)

namespace penstock::image {

// Cuts out the window; later steps see nothing around it.
struct Crop {
  Window window;

  template <class Image>  // ImageView, ImagePart, or a Tensor u8 [height, width, 3]; so below
  Tensor operator()(const Image& image) const;
};

struct Resize {
  Size size;
  Filter filter = Filter::bilinear;

  template <class Image> Tensor operator()(const Image& image) const;
};

// The shorter side to `shorter`, then the centre of the size `crop`.
struct ResizeAndCentreCrop {
  std::int64_t shorter = 256;
  Size crop;
  Filter filter = Filter::bilinear;

  template <class Image> Tensor operator()(const Image& image) const;
};

// One box as TensorFlow's crop_and_resize cuts it. Gives f32 in 0..255 unless a Convert follows.
struct CropAndResize {
  Box box;
  Size size;
  CropOptions options = {};

  template <class Image> Tensor operator()(const Image& image) const;
};

// Mirrors left to right; with Mirror::no it does nothing, for a coin that decides.
struct Flip {
  Mirror mirror = Mirror::yes;

  template <class Image> Tensor operator()(const Image& image) const;
};

// As Normaliser; gives f32 unless a Convert follows.
struct Normalise {
  Colour mean = Normaliser::imagenet_mean;
  Colour deviation = Normaliser::imagenet_deviation;

  template <class Image> Tensor operator()(const Image& image) const;
};

// Values as f32, f16, bf16 or, if not normalised, u8.
struct Convert {
  DType type = DType::f32;
  Layout layout = Layout::nhwc;

  template <class Image> Tensor operator()(const Image& image) const;
};

// One step or a chain of them.
class Transform {
 public:
  Transform(const Crop& step);                 // NOLINT(google-explicit-constructor): a step is a chain of one
  Transform(const Resize& step);               // NOLINT(google-explicit-constructor)
  Transform(const ResizeAndCentreCrop& step);  // NOLINT(google-explicit-constructor)
  Transform(const CropAndResize& step);        // NOLINT(google-explicit-constructor)
  Transform(const Flip& step);                 // NOLINT(google-explicit-constructor)
  Transform(const Normalise& step);            // NOLINT(google-explicit-constructor)
  Transform(const Convert& step);              // NOLINT(google-explicit-constructor)

  // The pixels that the chain reads of an image of this size. Error(invalid_argument) if a step does not fit such an
  // image.
  Window source(Size image) const;

  // A new tensor: u8, or f32 if normalised or of CropAndResize, [height, width, 3], unless Convert says other. Of an
  // image's part, steps count positions in the whole image; Error(invalid_argument) if a pixel of source() is not in
  // the part.
  Tensor operator()(const ImagePart& image) const;
  Tensor operator()(const ImageView& image) const;
  Tensor operator()(const Tensor& image) const;

  // The same into a tensor of this type and shape. Error(invalid_argument) for another.
  void operator()(const ImagePart& image, Tensor& place) const;
  void operator()(const ImageView& image, Tensor& place) const;

  // The same into memory. `out` says which, and how to write (stream, simd); its type and layout must be the chain's,
  // mirror and normaliser are the chain's alone. Error(invalid_argument) otherwise.
  void operator()(const ImagePart& image, const Output& out) const;
  void operator()(const ImageView& image, const Output& out) const;

 private:
  enum class Stage : std::uint8_t { crop, resize, flip, normalise, convert };

  friend Transform operator|(Transform first, const Transform& next);

  explicit Transform(Stage only) : first_(only), last_(only) {}
  void append(const Transform& next);
  void run(const ImagePart& image, Output out) const;
  Size size_of_result(Size image) const;
  DType type() const;
  Layout layout() const;

  Stage first_, last_;
  std::optional<Window> window_;
  std::optional<Resize> resize_;
  std::optional<ResizeAndCentreCrop> centre_;
  std::optional<CropAndResize> box_;
  Mirror mirror_ = Mirror::no;
  std::shared_ptr<const Normaliser> normaliser_;
  std::optional<Convert> convert_;
};

// Both in turn.
Transform operator|(Transform first, const Transform& next);

template <class Image> Tensor Crop::operator()(const Image& image) const { return Transform(*this)(image); }
template <class Image> Tensor Resize::operator()(const Image& image) const { return Transform(*this)(image); }
template <class Image> Tensor ResizeAndCentreCrop::operator()(const Image& image) const {
  return Transform(*this)(image);
}
template <class Image> Tensor CropAndResize::operator()(const Image& image) const { return Transform(*this)(image); }
template <class Image> Tensor Flip::operator()(const Image& image) const { return Transform(*this)(image); }
template <class Image> Tensor Normalise::operator()(const Image& image) const { return Transform(*this)(image); }
template <class Image> Tensor Convert::operator()(const Image& image) const { return Transform(*this)(image); }

}  // namespace penstock::image

#pragma GCC visibility pop
