#include <penstock/image/resize.h>

#include <functional>
#include <utility>

#include "ops/imagenet/decode_op.h"

namespace penstock::imagenet {
namespace {

using image::ImagePart;
using image::Mirror;
using image::Output;
using image::Window;

const image::Normaliser& imagenet_normaliser() {
  static const image::Normaliser normaliser;
  return normaliser;
}

// Part of a picture as shares of its height and width.
std::array<float, 4> shares(const Window& part, image::Size whole) {
  const auto share = [](std::int64_t at, std::int64_t of) {
    return static_cast<float>(static_cast<double>(at) / static_cast<double>(of));
  };
  return {share(part.y, whole.height), share(part.x, whole.width),
          share(part.y + part.height, whole.height), share(part.x + part.width, whole.width)};
}

// One example a file: a part of the picture, resized into the example's memory in its type.
class FrameOp : public DecodeOp {
 public:
  using DecodeOp::DecodeOp;

  Declares declares() const override { return Declares::one_each; }
  std::size_t bytes_of_result(const LoadedFile& file) const override {
    return example_bytes() + sizeof(Example) + decoded_bytes(file);
  }

 protected:
  // What is seen.
  struct Frame {
    Window source;  // the pixels that are needed
    std::array<float, 4> box{};
    Mirror mirror = Mirror::no;
  };

 private:
  virtual Frame choose(image::Size whole, Context& context) const = 0;

  // The frame's pixels to the size of an example.
  virtual void resize(const ImagePart& part, const Output& out) const = 0;

  Element answer(const LoadedFile& file, Context& context) const override {
    Example example;
    example.label = config().labels.id(label_of_file(file.path, first_name_in(file)));
    example.file = context.ordinal();
    context.outputs().declare(1);
    Frame frame;
    const auto choose_window = [&](image::Size whole) {
      frame = choose(whole, context);
      return frame.source;
    };
    const ImagePart part = decode(file, std::cref(choose_window));
    example.box = frame.box;
    if (frame.mirror == Mirror::yes) std::swap(example.box[1], example.box[3]);
    example.image = slot(context, 0);
    Output out = output_to(example.image);
    if (out.type != DType::u8) out.normaliser = &imagenet_normaliser();
    out.mirror = frame.mirror;
    resize(part, out);
    count_examples(1);
    return Element(std::move(example));
  }

  // The name of the annotation's first object, where it was needed and read.
  std::string first_name_in(const LoadedFile& file) const {
    if (!file.annotation) return {};
    const VocAnnotation& annotation = parsed(*file.annotation, config());
    return annotation.objects.empty() ? std::string() : annotation.objects.front().name;
  }
};

class TrainOp final : public FrameOp {
 public:
  using FrameOp::FrameOp;
  std::string name() const override { return "random_resized_crop"; }

 private:
  Frame choose(image::Size whole, Context& context) const override {
    CounterRng rng = context.rng();
    const Window window = image::random_crop(whole, [&rng] { return rng.uniform(); });
    const Mirror mirror = rng.uniform() < 0.5 ? Mirror::yes : Mirror::no;
    return {window, shares(window, whole), mirror};
  }

  void resize(const ImagePart& part, const Output& out) const override {
    image::resize(part.pixels, config().size, out);
  }
};

class EvalOp final : public FrameOp {
 public:
  using FrameOp::FrameOp;
  std::string name() const override { return "centre_crop"; }
  std::string parameters() const override {
    return FrameOp::parameters() + ", shorter_side=" + std::to_string(config().shorter_side);
  }

 private:
  Frame choose(image::Size whole, Context&) const override {
    const image::Size resized = image::shorter_side_size(whole, config().shorter_side);
    return {image::centre_crop_source(whole, config().shorter_side, config().size),
            shares(image::centre_window(resized, config().size), resized), Mirror::no};
  }

  void resize(const ImagePart& part, const Output& out) const override {
    image::resize_and_centre_crop(part, config().shorter_side, config().size, out);
  }
};

}  // namespace

OpRef train_op(std::shared_ptr<const Config> config) {
  return std::make_shared<TrainOp>(std::move(config));
}

OpRef eval_op(std::shared_ptr<const Config> config) {
  return std::make_shared<EvalOp>(std::move(config));
}

}  // namespace penstock::imagenet
