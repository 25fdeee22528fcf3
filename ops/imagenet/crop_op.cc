#include <penstock/image/crop_and_resize.h>
#include <penstock/image/output.h>
#include <penstock/voc.h>

#include <string>
#include <string_view>
#include <utility>

#include "ops/imagenet/decode_op.h"

namespace penstock::imagenet {
namespace {

// What an annotation says, in the form that the crops need.
struct Boxes {
  std::vector<image::Box> boxes;
  std::string first_name;  // of the first object; empty if there is none
  std::int64_t clamped = 0;
};

const char* text_of(BoxPolicy policy) {
  switch (policy) {
    case BoxPolicy::strict:
      return "strict";
    case BoxPolicy::clamp:
      return "clamp";
    case BoxPolicy::tf:
      break;
  }
  return "tf";
}

// At least as many objects as parsing will find, at a fraction of its cost. Parsing refuses a file
// with more than `most`.
std::size_t count_objects(const LoadedFile& file, std::size_t most) {
  if (!file.annotation) return 1;
  const Tensor& xml = file.annotation->xml;
  const std::string_view text(reinterpret_cast<const char*>(xml.data()), xml.bytes());
  constexpr std::string_view tag = "<object";
  std::size_t count = 0;
  for (std::size_t at = text.find(tag); at != text.npos && count < most;
       at = text.find(tag, at + tag.size()))
    ++count;
  return count;
}

class CropOp final : public DecodeOp {
 public:
  using DecodeOp::DecodeOp;

  std::string name() const override { return "crop_boxes"; }
  std::string parameters() const override {
    return DecodeOp::parameters() + ", boxes=" + text_of(config().boxes);
  }

  std::size_t bytes_of_result(const LoadedFile& file) const override {
    const std::size_t count = count_objects(file, config().voc.max_objects);
    return count * (example_bytes() + sizeof(Example)) + decoded_bytes(file);
  }

 private:
  Element answer(const LoadedFile& file, Context& context) const override {
    const Boxes& found = boxes_of(file);
    const std::int32_t label = config().labels.id(label_of_file(file.path, found.first_name));
    context.outputs().declare(found.boxes.size());
    const image::ImagePart part = decode(
        file, [this, &found](image::Size whole) { return image::source_window(whole, found.boxes, config().size); });
    std::vector<Example> examples(found.boxes.size());
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const image::Box& box = found.boxes[i];
      examples[i] = {cut(part, box, context, i),
                     label,
                     {box.ymin, box.xmin, box.ymax, box.xmax},
                     context.ordinal()};
    }
    count(found, file);
    count_examples(examples.size());
    return Element(std::move(examples));
  }

  // In memory of this thread, until the next call.
  const Boxes& boxes_of(const LoadedFile& file) const {
    thread_local Boxes result;
    result.boxes.clear();
    result.first_name.clear();
    result.clamped = 0;
    if (!file.annotation) {
      result.boxes.emplace_back();
      return result;
    }
    const VocAnnotation& annotation = annotation_of(file);
    const BoxOptions options{config().boxes, file.annotation->path, &result.clamped};
    normalised_boxes(annotation, options, result.boxes);
    if (!annotation.objects.empty()) result.first_name = annotation.objects.front().name;
    return result;
  }

  // Once nothing can fail any more: a file that is refused was not repaired.
  void count(const Boxes& found, const LoadedFile& file) const {
    const std::shared_ptr<Counters>& counters = config().counters;
    if (!counters) return;
    if (!file.annotation) ++counters->missing_annotations;
    counters->clamped_boxes += found.clamped;
  }

  Tensor cut(const image::ImagePart& part, const image::Box& box, Context& context,
             std::size_t i) const {
    Tensor out = slot(context, i);
    image::Output values = image::output_of(out, config().layout);
    values.simd = config().fast.simd;
    image::crop_and_resize(part, box, config().size, values);
    return out;
  }
};

}  // namespace

OpRef crop_op(std::shared_ptr<const Config> config) {
  return std::make_shared<CropOp>(std::move(config));
}

}  // namespace penstock::imagenet
