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
  return {share(part.y, whole.height), share(part.x, whole.width), share(part.y + part.height, whole.height),
          share(part.x + part.width, whole.width)};
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

  // The example's values, of a frame that is chosen here.
  Tensor picture(const LoadedFile& file, Context& context, Frame& frame) const {
    context.outputs().declare(1);
    const auto choose_window = [&](image::Size whole) {
      frame = choose(whole, context);
      return frame.source;
    };
    const ImagePart part = decode(file, std::cref(choose_window));
    Tensor image = row(context, 0);
    Output out = output_to(image);
    if (out.type != DType::u8) out.normaliser = &imagenet_normaliser();
    out.mirror = frame.mirror;
    resize(part, out);
    count_examples(1);
    return image;
  }

 private:
  virtual Frame choose(image::Size whole, Context& context) const = 0;

  // The frame's pixels to the size of an example.
  virtual void resize(const ImagePart& part, const Output& out) const = 0;

  Element answer(const LoadedFile& file, Context& context) const override {
    Example example;
    example.label = label_of(file, first_name_in(file));
    example.file = context.ordinal();
    Frame frame;
    example.image = picture(file, context, frame);
    example.box = frame.box;
    if (frame.mirror == Mirror::yes) std::swap(example.box[1], example.box[3]);
    return Element(std::move(example));
  }

  // The name of the annotation's first object, where it was needed and read.
  std::string first_name_in(const LoadedFile& file) const {
    if (!file.annotation) return {};
    const VocAnnotation& annotation = parsed(*file.annotation, config());
    return annotation.objects.empty() ? std::string() : annotation.objects.front().name;
  }
};

class TrainOp : public FrameOp {
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

class ObjectsOp final : public TrainOp {
 public:
  using TrainOp::TrainOp;
  std::string name() const override { return "random_resized_crop_of_objects"; }
  std::string parameters() const override {
    return TrainOp::parameters() + ", least_visible=" + std::to_string(config().least_visible);
  }

 private:
  Element answer(const LoadedFile& file, Context& context) const override {
    ObjectExample example;
    example.file = context.ordinal();
    if (file.annotation) find(example.objects, *file.annotation);
    Frame frame;
    example.image = picture(file, context, frame);
    move(example.objects, frame);
    if (!file.annotation && config().counters) ++config().counters->missing_annotations;
    return Element(std::move(example));
  }

  // In the picture as the file has it.
  void find(std::vector<Object>& objects, const LoadedAnnotation& annotation) const {
    const VocAnnotation& voc = parsed(annotation, config());
    const std::vector<image::PixelBox> boxes = pixel_boxes(voc);
    for (std::size_t i = 0; i < boxes.size(); ++i)
      objects.push_back({config().labels.id(voc.objects[i].name), boxes[i]});
  }

  void move(std::vector<Object>& objects, const Frame& frame) const {
    std::vector<image::PixelBox> boxes;
    for (const Object& object : objects) boxes.push_back(object.box);
    std::vector<Object> moved;
    for (const auto& each :
         image::transform_boxes(boxes, frame.source, config().size, frame.mirror, config().least_visible))
      moved.push_back({objects[each.index].label, each.box});
    objects = std::move(moved);
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

OpRef train_op(std::shared_ptr<const Config> config, FastPath fast) {
  return std::make_shared<TrainOp>(std::move(config), fast);
}

OpRef objects_op(std::shared_ptr<const Config> config) {
  return std::make_shared<ObjectsOp>(std::move(config), FastPath{});
}

OpRef eval_op(std::shared_ptr<const Config> config, FastPath fast) {
  return std::make_shared<EvalOp>(std::move(config), fast);
}

}  // namespace penstock::imagenet
