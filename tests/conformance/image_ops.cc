#include "tests/conformance/image_ops.h"

#include <penstock/imagenet.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "ops/imagenet/decode_op.h"
#include "ops/imagenet/read_op.h"
#include "tests/conformance/picture_files.h"

namespace conformance {
namespace {

using ps::imagenet::Annotations;
using ps::imagenet::Config;
using ps::imagenet::Example;
using ps::imagenet::LoadedFile;
using ConfigRef = std::shared_ptr<const Config>;

constexpr std::size_t kExampleBytes = 8 * 8 * 3;

ConfigRef config() {
  return std::make_shared<const Config>(
      Config{.labels = PictureFiles::get().labels(), .size = {8, 8}, .dtype = ps::DType::u8, .shorter_side = 10});
}

// ------------------------------------------------------------------------------------------------ what comes out, as a
// number

// The number, or what is not as it should be.
std::string text_of_file(const ps::Element& element, bool with_annotation) {
  const auto& file = element.get<LoadedFile>();
  const std::string path(file.path);
  const std::int64_t number = std::stoll(std::filesystem::path(path).stem().string());
  const bool has_annotation = with_annotation && PictureFiles::has_annotation(number);
  if (path != PictureFiles::get().path(number)) return path + ", a path that was not given";
  if (file.jpeg.bytes() != std::filesystem::file_size(path)) return path + " with other bytes";
  if (file.annotation.has_value() != has_annotation)
    return path + (has_annotation ? " without" : " with") + " annotation";
  return std::to_string(number);
}

std::string text_of_example(const Example& example) {
  const std::string label = std::to_string(example.label);
  const int grey = PictureFiles::grey(example.label);
  for (const std::uint8_t value : example.image.values<std::uint8_t>())
    if (std::abs(value - grey) > 3) return label + " with a pixel of " + std::to_string(value);
  if (example.file != example.label) return label + " from position " + std::to_string(example.file);
  return label;
}

std::string text_of_one(const ps::Element& element) { return text_of_example(element.get<Example>()); }

std::string text_of_many(const ps::Element& element) {
  const auto& examples = element.get<std::vector<Example>>();
  if (examples.empty()) return "no boxes";
  const std::string text = text_of_example(examples.front());
  const auto differs = [&](const Example& example) { return text_of_example(example) != text; };
  if (std::ranges::any_of(examples, differs)) return text + " beside boxes of another picture";
  const bool are_all = examples.size() == PictureFiles::boxes_in(examples.front().label);
  return are_all ? text : text + " in " + std::to_string(examples.size()) + " boxes";
}

std::size_t boxes_in(const ps::Element& element) { return element.get<std::vector<Example>>().size(); }

// ------------------------------------------------------------------------------------------------ the cases

// Paths of pictures, unevenly; of those that the op is to fail on, `bad` ones.
ps::Dataset<std::string> paths(const Op& op, const Feed& feed, std::string (PictureFiles::*bad)(std::int64_t) const) {
  return input_of<Token>(Place::stream, feed).map([op, feed, bad](const Token& token) {
    const std::int64_t number = token.number();
    feed.be_uneven(number + 31);
    const PictureFiles& files = PictureFiles::get();
    return op.fails.holds(model::number(number)) ? (files.*bad)(number) : files.path(number);
  });
}

// Each gives one result for each picture: the model's map, which leaves a number as it is.
Op one_to_one(const char* name) { return {.kind = Kind::map, .name = name}; }

Traits traits(std::size_t element_bytes, std::size_t large_ops) {
  return {.calls_function = true,
          .only_copyable = "takes paths and files",
          .element_bytes = element_bytes,
          .large_ops = large_ops};
}

// What read_image foretells, at most: pictures have less than 300 bytes.
std::size_t file_bytes(Annotations annotations) { return 300 + (annotations == Annotations::all ? 16 * ps::KiB : 0); }

Case read_image(const std::string& name, Annotations annotations, std::string (*text)(const ps::Element&)) {
  const auto build = [=](const std::vector<Op>& described, const Feed& feed) -> Built {
    const auto files = paths(described.back(), feed, &PictureFiles::missing);
    return {files.then<LoadedFile>(ps::imagenet::read_op(config(), annotations)).node(), text};
  };
  return {name, {one_to_one("map"), one_to_one("read_image")}, traits(file_bytes(annotations), 1), build, nullptr};
}

Case decoder(const char* name, Annotations annotations, ps::OpRef (*decode)(ConfigRef, ps::imagenet::FastPath),
             std::size_t results, Built outcome) {
  const auto build = [=](const std::vector<Op>& described, const Feed& feed) {
    const auto files = paths(described.back(), feed, &PictureFiles::empty);
    const auto read = files.then<LoadedFile>(ps::imagenet::read_op(config(), annotations));
    Built built = outcome;
    built.node = ps::graph::append(read.node(), decode(config(), {}), ps::CallSite::here());
    return built;
  };
  const std::size_t picture = PictureFiles::kHeight * PictureFiles::kWidth * 3;
  const std::size_t bytes = std::max(file_bytes(annotations), picture + results * (kExampleBytes + sizeof(Example)));
  return {name, {one_to_one("map"), one_to_one("read_image"), one_to_one(name)}, traits(bytes, 2), build, nullptr};
}

}  // namespace

std::vector<Case> image_ops() {
  const auto with_annotation = [](const ps::Element& element) { return text_of_file(element, true); };
  const auto without = [](const ps::Element& element) { return text_of_file(element, false); };
  constexpr auto if_needed = Annotations::where_path_has_no_label;
  return {
      read_image("read_image", Annotations::all, with_annotation),
      read_image("read_image, without annotations", if_needed, without),
      decoder("crop_boxes", Annotations::all, ps::imagenet::crop_op, 3, {nullptr, text_of_many, boxes_in}),
      decoder("random_resized_crop", if_needed, ps::imagenet::train_op, 1, {nullptr, text_of_one}),
      decoder("centre_crop", if_needed, ps::imagenet::eval_op, 1, {nullptr, text_of_one}),
  };
}

}  // namespace conformance
