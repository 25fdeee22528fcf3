#include <penstock/image/transform.h>

#include <algorithm>
#include <array>
#include <string>

#include "ops/image/check.h"

namespace penstock::image {
namespace {

Error wrong(const std::string& why) { return {ErrorCode::invalid_argument, "transform: " + why}; }

template <class Step> void take(std::optional<Step>& mine, const std::optional<Step>& other) {
  if (other) mine = other;
}

Size size_of(const Window& window) { return {window.height, window.width}; }

// What is there of the window, as a part of an image that is the window alone.
ImagePart part_inside(const ImagePart& image, const Window& window) {
  if (!is_inside(window, image.whole)) throw wrong("Crop's " + outside_text(window, image.whole));
  const Window& there = image.window;
  const std::int64_t y = std::max(window.y, there.y), x = std::max(window.x, there.x);
  const std::int64_t end_y = std::min(window.y + window.height, there.y + there.height);
  const std::int64_t end_x = std::min(window.x + window.width, there.x + there.width);
  if (y >= end_y || x >= end_x)
    throw wrong("Crop's window is not in the part of the image; decode the window that source() tells");
  const Window shared{y - there.y, x - there.x, end_y - y, end_x - x};
  return {image.pixels.window(shared), {y - window.y, x - window.x, shared.height, shared.width}, size_of(window)};
}

}  // namespace

Transform::Transform(const Crop& step) : Transform(Stage::crop) { window_ = step.window; }
Transform::Transform(const Resize& step) : Transform(Stage::resize) { resize_ = step; }
Transform::Transform(const ResizeAndCentreCrop& step) : Transform(Stage::resize) { centre_ = step; }
Transform::Transform(const CropAndResize& step) : Transform(Stage::resize) { box_ = step; }
Transform::Transform(const Flip& step) : Transform(Stage::flip) { mirror_ = step.mirror; }
Transform::Transform(const Normalise& step) : Transform(Stage::normalise) {
  normaliser_ = std::make_shared<const Normaliser>(step.mean, step.deviation);
}
Transform::Transform(const Convert& step) : Transform(Stage::convert) {
  if (!is_pixel_type(step.type))
    throw wrong("values are f32, f16, bf16 or u8, not " + std::string(to_string(step.type)));
  convert_ = step;
}

void Transform::append(const Transform& next) {
  constexpr std::array names{"Crop", "Resize", "Flip", "Normalise", "Convert"};
  if (next.first_ <= last_)
    throw wrong(std::string(names[static_cast<std::size_t>(next.first_)]) + " cannot follow " +
                names[static_cast<std::size_t>(last_)] +
                "; the order is Crop, Resize, ResizeAndCentreCrop or CropAndResize, Flip, Normalise, Convert, each at "
                "most once");
  last_ = next.last_;
  take(resize_, next.resize_);
  take(centre_, next.centre_);
  take(box_, next.box_);
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
  return normaliser_ || box_ ? DType::f32 : DType::u8;
}

Layout Transform::layout() const { return convert_ ? convert_->layout : Layout::nhwc; }

Window Transform::source(Size image) const {
  const Window seen = window_.value_or(Window{0, 0, image.height, image.width});
  if (!is_inside(seen, image)) throw wrong("Crop's " + outside_text(seen, image));
  Window read{0, 0, seen.height, seen.width};
  if (resize_) {
    const Region all{0, 0, static_cast<float>(seen.width), static_cast<float>(seen.height)};
    read = resize_source(size_of(seen), all, resize_->size, {.filter = resize_->filter});
  }
  if (centre_) read = centre_crop_source(size_of(seen), centre_->shorter, centre_->crop, {.filter = centre_->filter});
  if (box_) read = source_window(size_of(seen), {&box_->box, 1}, box_->size, box_->options);
  return {seen.y + read.y, seen.x + read.x, read.height, read.width};
}

Size Transform::size_of_result(Size image) const {
  if (resize_) return resize_->size;
  if (centre_) return centre_->crop;
  if (box_) return box_->size;
  return window_ ? size_of(*window_) : image;
}

void Transform::run(const ImagePart& image, Output out) const {
  const ImagePart part = window_ ? part_inside(image, *window_) : image;
  out.mirror = mirror_;
  out.normaliser = normaliser_.get();
  if (resize_) return resize(part, resize_->size, out, {.filter = resize_->filter});
  if (centre_) return resize_and_centre_crop(part, centre_->shorter, centre_->crop, out, {.filter = centre_->filter});
  if (box_) return crop_and_resize(part, box_->box, box_->size, out, box_->options);
  store(cut(part, {0, 0, part.whole.height, part.whole.width}, "transform", "decode the window that source() tells"),
        out);
}

Tensor Transform::operator()(const ImagePart& image) const {
  const Size size = size_of_result(image.whole);
  check_output_size(size, "transform");
  const bool planes = layout() == Layout::nchw;
  Tensor result(type(), planes ? Shape{channels, size.height, size.width} : Shape{size.height, size.width, channels});
  run(image, output_of(result, layout()));
  return result;
}

void Transform::operator()(const ImagePart& image, Tensor& place) const {
  const Size size = size_of_result(image.whole);
  if (place.dtype() != type() || image::size_of(place, layout()) != size)
    throw wrong("makes " + std::string(to_string(type())) + " of " + std::to_string(size.height) + " x " +
                std::to_string(size.width) + " pixels, but the place is " + std::string(to_string(place.dtype())) +
                " " + penstock::to_string(place.shape()));
  run(image, output_of(place, layout()));
}

void Transform::operator()(const ImagePart& image, const Output& out) const {
  if (out.type != type() || out.layout != layout() || out.mirror != Mirror::no || out.normaliser != nullptr)
    throw wrong(
        "type, layout, mirror and normaliser are those of the chain; give an Output of its type and layout and leave "
        "the others");
  run(image, out);
}

Tensor Transform::operator()(const ImageView& image) const { return (*this)(part_of(image)); }
Tensor Transform::operator()(const Tensor& image) const { return (*this)(view_of(image)); }
void Transform::operator()(const ImageView& image, Tensor& place) const { (*this)(part_of(image), place); }
void Transform::operator()(const ImageView& image, const Output& out) const { (*this)(part_of(image), out); }

}  // namespace penstock::image
