#include <penstock/image/crop_and_resize.h>
#include <penstock/voc.h>

#include <optional>
#include <string>
#include <utility>

#include "ops/imagenet/decode_op.h"

namespace penstock::imagenet {
namespace {

const char* text_of(BoxPolicy policy) {
  switch (policy) {
    case BoxPolicy::strict: return "strict";
    case BoxPolicy::clamp: return "clamp";
    case BoxPolicy::tf: break;
  }
  return "tf";
}

// How many crops a file gives; none if its annotation is wrong, for it will fail.
std::size_t count_of(const LoadedFile& file) {
  if (!file.annotation) return 1;
  return file.annotation->boxes ? file.annotation->boxes->boxes.size() : 0;
}

class CropOp final : public DecodeOp {
 public:
  using DecodeOp::DecodeOp;

  std::string name() const override { return "crop_boxes"; }
  std::string parameters() const override { return DecodeOp::parameters() + ", boxes=" + text_of(config().boxes); }

  std::optional<std::size_t> outputs_of(const Element& input) const override {
    return count_of(input.get<LoadedFile>());
  }
  std::size_t bytes_of_result(const LoadedFile& file) const override {
    return count_of(file) * (example_bytes() + sizeof(Example)) + decoded_bytes(file);
  }

 private:
  Element answer(const LoadedFile& file, Context& context) const override {
    const Boxes found = boxes_in(file);
    const std::int32_t label = label_of(file, found.first_name);
    context.outputs().declare(found.boxes.size());
    const image::ImagePart part = decode(
        file, [this, &found](image::Size whole) { return image::source_window(whole, found.boxes, config().size); });
    std::vector<Example> examples(found.boxes.size());
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const image::Box& box = found.boxes[i];
      examples[i] = {cut(part, box, context, i), label, {box.ymin, box.xmin, box.ymax, box.xmax}, context.ordinal()};
    }
    count(found, file);
    count_examples(examples.size());
    return Element(std::move(examples));
  }

  // Without an annotation, the whole picture. One that could not be read is read again, for its error.
  Boxes boxes_in(const LoadedFile& file) const {
    if (!file.annotation) return {.boxes = {image::Box{}}, .first_name = {}};
    return file.annotation->boxes ? *file.annotation->boxes : boxes_of(*file.annotation, config());
  }

  // Once nothing can fail any more: a file that is refused was not repaired.
  void count(const Boxes& found, const LoadedFile& file) const {
    const std::shared_ptr<Counters>& counters = config().counters;
    if (!counters) return;
    if (!file.annotation) ++counters->missing_annotations;
    counters->clamped_boxes += found.clamped;
  }

  Tensor cut(const image::ImagePart& part, const image::Box& box, Context& context, std::size_t i) const {
    Tensor out = row(context, i);
    image::crop_and_resize(part, box, config().size, output_to(out));
    return out;
  }
};

}  // namespace

OpRef crop_op(std::shared_ptr<const Config> config, FastPath fast) {
  return std::make_shared<CropOp>(std::move(config), fast);
}

}  // namespace penstock::imagenet
