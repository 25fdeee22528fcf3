#include <penstock/image.h>
#include <penstock/imagenet.h>
#include <penstock/voc.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "ops/imagenet/decode_op.h"
#include "tests/fuzz/targets.h"

namespace penstock::fuzz {
namespace {

using imagenet::Example;

constexpr std::int64_t kMostLoadedPixels = 128 * 128;  // keeps an execution below a millisecond
constexpr std::size_t kMostObjects = 12;

// The input, taken apart.
struct LoaderCase {
  imagenet::Config config;
  std::string_view xml;
  std::string_view jpeg;
};

// Bits of the first byte: 0 dct, 1 upsampling, 2 truncated, 3 layout, 4-5 dtype. The next two: length of the XML.
LoaderCase loader_case_of(std::string_view bytes) {
  const auto byte = [&bytes](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u; };
  const unsigned flags = byte(0);
  const std::size_t length = byte(1) | byte(2) << 8;
  LoaderCase made;
  made.config.labels = LabelTable::from_names({"n00000001", "thing"});
  made.config.size = {6, 5};
  made.config.shorter_side = 8;
  made.config.decode.dct = (flags & 1) != 0 ? image::Dct::ifast : image::Dct::islow;
  made.config.decode.fancy_upsampling = (flags & 2) == 0;
  made.config.decode.truncated = (flags & 4) != 0 ? image::Truncated::accept : image::Truncated::reject;
  made.config.decode.max_pixels = kMostLoadedPixels;
  made.config.layout = (flags & 8) != 0 ? image::Layout::nchw : image::Layout::nhwc;
  constexpr DType types[] = {DType::f32, DType::u8, DType::f16, DType::bf16};
  made.config.dtype = types[flags >> 4 & 3];
  made.config.voc.max_objects = kMostObjects;
  bytes.remove_prefix(std::min<std::size_t>(3, bytes.size()));
  made.xml = bytes.substr(0, length);
  made.jpeg = bytes.substr(made.xml.size());
  return made;
}

Tensor tensor_of(std::string_view bytes) {
  Tensor tensor(DType::u8, {static_cast<std::int64_t>(bytes.size())});
  if (!bytes.empty()) std::memcpy(tensor.values<std::uint8_t>().data(), bytes.data(), bytes.size());
  return tensor;
}

bool same(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.bytes() == b.bytes() &&
         (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

// The picture, if it can be decoded; by both functions, and twice.
std::optional<Tensor> check_decoding(const Tensor& file, const image::DecodeOptions& options) {
  image::JpegHeader header;
  const bool has_header = succeeds([&] { header = image::read_jpeg_header(image::bytes_of(file), options); });
  Tensor picture;
  image::DecodeReport report;
  const bool decoded = succeeds([&] { picture = image::decode_jpeg(image::bytes_of(file), options, &report); });
  require(has_header || !decoded, "what has no header cannot be decoded");
  ByteBuffer buffer;
  const bool again = succeeds([&] {
    const auto view = image::decode_jpeg(image::bytes_of(file), buffer, options);
    require(decoded && same(image::copy_of(view), picture), "decoding twice gives the same pixels");
  });
  require(again == decoded, "decoding twice succeeds twice or never");
  if (!decoded) return std::nullopt;
  require(picture.shape() == Shape{header.height, header.width, image::channels}, "a picture has its header's size");
  require(header.height * header.width <= options.max_pixels, "max_pixels holds");
  require(options.truncated == image::Truncated::accept || !report.truncated,
          "a truncated file is refused unless accepted");
  return picture;
}

bool lies_inside(const image::Box& box, const VocAnnotation& annotation) {
  const auto most = [](std::int64_t extent) {
    return static_cast<float>(static_cast<double>(extent) / (static_cast<double>(extent) - 1));
  };
  const float bottom = most(annotation.height), right = most(annotation.width);
  return box.ymin >= 0 && box.ymin <= box.ymax && box.ymax <= bottom && box.xmin >= 0 && box.xmin <= box.xmax &&
         box.xmax <= right;
}

struct Boxes {
  bool accepted = false;
  std::vector<image::Box> boxes;
};

Boxes boxes_under(BoxPolicy policy, const VocAnnotation& annotation) {
  Boxes result;
  result.accepted = succeeds([&] { result.boxes = normalised_boxes(annotation, {.policy = policy}); });
  if (result.accepted) require(result.boxes.size() == annotation.objects.size(), "each object gives a box");
  return result;
}

// The annotation, if it can be read.
std::optional<VocAnnotation> check_annotation(const Tensor& xml, const VocOptions& options) {
  VocAnnotation annotation;
  if (!succeeds([&] { annotation = parse_voc(xml, options); })) return std::nullopt;
  require(annotation.width >= 1 && annotation.height >= 1, "extents are at least 1");
  require(annotation.objects.size() <= options.max_objects, "max_objects holds");
  const Boxes strict = boxes_under(BoxPolicy::strict, annotation);
  const Boxes clamped = boxes_under(BoxPolicy::clamp, annotation);
  const Boxes as_they_are = boxes_under(BoxPolicy::tf, annotation);
  for (const auto& box : clamped.boxes) require(lies_inside(box, annotation), "a clamped box lies inside");
  require(!strict.accepted || (clamped.accepted && as_they_are.accepted), "what strict accepts, all accept");
  require(!strict.accepted || (strict.boxes == clamped.boxes && strict.boxes == as_they_are.boxes),
          "a box inside is the same under all policies");
  return annotation;
}

// What an op makes of the file; none: it failed.
std::optional<Element> run_op(const OpRef& op, const imagenet::LoadedFile& file, const Stamp& stamp) {
  const auto& maps = dynamic_cast<const ElementwiseOp&>(*op);
  std::optional<std::size_t> hint;
  const bool has_hint = succeeds([&] { hint = maps.bytes_hint(Element(imagenet::LoadedFile(file))); });
  Slot slot(Element(imagenet::LoadedFile(file)), stamp);
  Context context({}, 7);
  maps.run({&slot, 1}, context);
  if (slot.kind() == Slot::Kind::failed) {
    succeeds([&] { std::rethrow_exception(slot.take<std::exception_ptr>()); });
    return std::nullopt;
  }
  require(has_hint && hint.has_value(), "what can be made can be foretold");
  return std::move(slot.value);
}

bool is_finite(const Tensor& image) {
  if (image.dtype() != DType::f32) return true;
  return std::ranges::all_of(image.values<float>(), [](float value) { return std::isfinite(value); });
}

void check_example(const Example& example, const imagenet::Config& config) {
  const auto [height, width] = config.size;
  const bool nchw = config.layout == image::Layout::nchw;
  require(example.image.shape() == (nchw ? Shape{3, height, width} : Shape{height, width, 3}),
          "an example has the asked size");
  require(example.image.dtype() == config.dtype, "an example has the asked type");
  require(is_finite(example.image), "values are finite");
  require(example.label == 0 || example.label == 1, "a label is in the table");
}

bool same(const Example& a, const Example& b) { return same(a.image, b.image) && a.label == b.label && a.box == b.box; }

void check_frames(const OpRef& op, const imagenet::LoadedFile& file, const imagenet::Config& config, bool can_decode,
                  bool roi) {
  const Stamp stamp{.epoch = 1, .ordinal = 3};
  auto once = run_op(op, file, stamp);
  auto twice = run_op(op, file, stamp);
  require(once.has_value() == twice.has_value(), "an op succeeds twice or never");
  // A window may be whole where the picture below it is not.
  require(can_decode || roi || !once, "no example without a picture");
  if (!once) return;
  check_example(once->get<Example>(), config);
  require(same(once->get<Example>(), twice->get<Example>()), "an op gives the same twice");
}

void check_crops(BoxPolicy policy, imagenet::LoadedFile file, imagenet::Config config,
                 const std::optional<VocAnnotation>& annotation, bool can_decode, bool roi) {
  config.boxes = policy;
  succeeds([&] { file.annotation->boxes = imagenet::boxes_of(*file.annotation, config); });
  const auto crops = run_op(imagenet::crop_op(std::make_shared<imagenet::Config>(config), {.roi = roi}), file, {});
  if (!crops) return;
  require((can_decode || roi) && annotation, "no crops without picture and annotation");
  const auto& examples = crops->get<std::vector<Example>>();
  require(examples.size() == annotation->objects.size(), "each object gives a crop");
  for (const Example& example : examples) check_example(example, config);
}

}  // namespace

void loader(std::string_view bytes) {
  const LoaderCase made = loader_case_of(bytes);
  const imagenet::Config& config = made.config;
  const Tensor jpeg = tensor_of(made.jpeg), xml = tensor_of(made.xml);
  const bool can_decode = check_decoding(jpeg, config.decode).has_value();
  const auto annotation = check_annotation(xml, config.voc);
  const imagenet::LoadedFile annotated{"n00000001/a.JPEG", jpeg,
                                       imagenet::LoadedAnnotation{"a.xml", xml, std::nullopt}};
  const imagenet::LoadedFile alone{"n00000001/a.JPEG", jpeg, std::nullopt};
  const auto shared = std::make_shared<imagenet::Config>(config);
  for (const bool roi : {true, false}) {
    for (const BoxPolicy policy : {BoxPolicy::strict, BoxPolicy::clamp, BoxPolicy::tf})
      check_crops(policy, annotated, config, annotation, can_decode, roi);
    check_frames(imagenet::train_op(shared, {.roi = roi}), alone, config, can_decode, roi);
    check_frames(imagenet::eval_op(shared, {.roi = roi}), alone, config, can_decode, roi);
  }
}

}  // namespace penstock::fuzz
