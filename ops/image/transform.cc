#include <penstock/image/transform.h>

#include <array>
#include <string>

#include "ops/image/check.h"

namespace penstock::image {
namespace {

Error wrong(const std::string& why) { return {ErrorCode::invalid_argument, "transform: " + why}; }

template <class Step>
void take(std::optional<Step>& mine, const std::optional<Step>& other) {
  if (other) mine = other;
}

}  // namespace

Transform::Transform(const Crop& step) : Transform(Stage::crop) { window_ = step.window; }
Transform::Transform(const Resize& step) : Transform(Stage::resize) { resize_ = step; }
Transform::Transform(const ResizeAndCentreCrop& step) : Transform(Stage::resize) { centre_ = step; }
Transform::Transform(const Flip& step) : Transform(Stage::flip) { mirror_ = step.mirror; }
Transform::Transform(const Normalise& step) : Transform(Stage::normalise) {
  normaliser_ = std::make_shared<const Normaliser>(step.mean, step.deviation);
}
Transform::Transform(const Convert& step) : Transform(Stage::convert) {
  const DType type = step.type;
  if (type != DType::f32 && type != DType::f16 && type != DType::bf16 && type != DType::u8)
    throw wrong("values are f32, f16, bf16 or u8, not " + std::string(to_string(type)));
  convert_ = step;
}

void Transform::append(const Transform& next) {
  constexpr std::array names{"Crop", "Resize", "Flip", "Normalise", "Convert"};
  if (next.first_ <= last_)
    throw wrong(std::string(names[static_cast<std::size_t>(next.first_)]) + " cannot follow " +
                names[static_cast<std::size_t>(last_)] +
                "; the order is Crop, Resize or ResizeAndCentreCrop, Flip, Normalise, Convert, each at most once");
  last_ = next.last_;
  take(resize_, next.resize_);
  take(centre_, next.centre_);
  take(convert_, next.convert_);
  if (next.mirror_ == Mirror::yes) mirror_ = Mirror::yes;
  if (next.normaliser_) normaliser_ = next.normaliser_;
  if (normaliser_ && type() == DType::u8) throw wrong("normalised values do not fit u8; convert to f32, f16 or bf16");
}

Transform operator|(Transform first, const Transform& next) {
  first.append(next);
  return first;
}

DType Transform::type() const {
  if (convert_) return convert_->type;
  return normaliser_ ? DType::f32 : DType::u8;
}

Layout Transform::layout() const { return convert_ ? convert_->layout : Layout::nhwc; }

Size Transform::size_of_result(const ImageView& image) const {
  if (resize_) return resize_->size;
  if (centre_) return centre_->crop;
  return window_ ? Size{window_->height, window_->width} : Size{image.height, image.width};
}

void Transform::run(const ImageView& image, Output out) const {
  const ImageView part = window_ ? image.window(*window_) : image;
  out.mirror = mirror_;
  out.normaliser = normaliser_.get();
  if (resize_) return resize(part, resize_->size, out, {.filter = resize_->filter});
  if (centre_) return resize_and_centre_crop(part, centre_->shorter, centre_->crop, out, {.filter = centre_->filter});
  store(part, out);
}

Tensor Transform::operator()(const ImageView& image) const {
  const Size size = size_of_result(image);
  check_output_size(size, "transform");
  const bool planes = layout() == Layout::nchw;
  Tensor result(type(), planes ? Shape{channels, size.height, size.width} : Shape{size.height, size.width, channels});
  run(image, output_of(result, layout()));
  return result;
}

Tensor Transform::operator()(const Tensor& image) const { return (*this)(view_of(image)); }

void Transform::operator()(const ImageView& image, Tensor& place) const {
  const Size size = size_of_result(image);
  if (place.dtype() != type() || size_of(place, layout()) != size)
    throw wrong("makes " + std::string(to_string(type())) + " of " + std::to_string(size.height) + " x " +
                std::to_string(size.width) + " pixels, but the place is " + std::string(to_string(place.dtype())) + " " +
                penstock::to_string(place.shape()));
  run(image, output_of(place, layout()));
}

void Transform::operator()(const ImageView& image, const Output& out) const {
  if (out.type != type() || out.layout != layout() || out.mirror != Mirror::no || out.normaliser != nullptr)
    throw wrong(
        "type, layout, mirror and normaliser are those of the chain; give an Output of its type and layout and leave the others");
  run(image, out);
}

}  // namespace penstock::image
