#include <penstock/error.h>
#include <penstock/image/jpeg.h>
#include <penstock/options.h>
#include <penstock/voc.h>
#include <tinyxml2.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "lib/base/text.h"

namespace penstock {
namespace {

using tinyxml2::XMLElement;

constexpr const char* mend = "; mend the file, or remove it: its picture is then taken whole";

Error voc_error(ErrorCode code, std::string_view name, const std::string& reason) {
  const std::string what = name.empty() ? "an annotation" : in_quotes(name);
  return Error(code, "cannot read " + what + ": " + reason);
}

// Where an element stands, for messages such as "tag object[2]/bndbox/xmin is missing".
// Put into words only when one is needed; it refers to the place above it.
struct Place {
  std::string_view file;
  const Place* above = nullptr;
  const char* tag = nullptr;  // none: the root
  std::size_t number = 0;     // of several with this tag, from 1

  Place operator/(const char* below) const { return {file, this, below}; }

  std::string path() const {
    const std::string before = above == nullptr ? "" : above->path();
    if (tag == nullptr) return before;
    return before + (before.empty() ? "" : "/") + tag + (number == 0 ? "" : "[" + std::to_string(number) + "]");
  }
};

const XMLElement& child(const XMLElement& parent, const char* tag, const Place& place) {
  const XMLElement* found = parent.FirstChildElement(tag);
  if (found == nullptr)
    throw voc_error(ErrorCode::data_loss, place.file, "tag <" + (place / tag).path() + "> is missing" + mend);
  return *found;
}

std::string_view text_of(const XMLElement* element) {
  const char* text = element != nullptr ? element->GetText() : nullptr;
  return text != nullptr ? trimmed(text) : std::string_view();
}

// The element's text as a Number, all of it. from_chars, because strtod and tinyxml2 follow the
// locale.
template <class Number> Number number_in(const XMLElement& parent, const char* tag, const Place& place) {
  const std::string_view text = text_of(&child(parent, tag, place));
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  Number value{};
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc{} || end != digits.data() + digits.size() || digits.empty())
    throw voc_error(ErrorCode::data_loss, place.file,
                    "tag <" + (place / tag).path() + "> holds " + in_quotes(text.substr(0, 40)) +
                        ", which is not a number that fits" + mend);
  return value;
}

std::int64_t extent_in(const XMLElement& size, const char* tag, const Place& place) {
  const auto value = number_in<std::int64_t>(size, tag, place);
  if (value < 1)
    throw voc_error(
        ErrorCode::data_loss, place.file,
        "tag <" + (place / tag).path() + "> is " + std::to_string(value) + ", but must be at least 1" + mend);
  return value;
}

void read_object(const XMLElement& element, const Place& place, VocObject& object) {
  const Place in_box = place / "bndbox";
  const XMLElement& box = child(element, "bndbox", place);
  object.name = text_of(element.FirstChildElement("name"));
  object.xmin = number_in<double>(box, "xmin", in_box);
  object.ymin = number_in<double>(box, "ymin", in_box);
  object.xmax = number_in<double>(box, "xmax", in_box);
  object.ymax = number_in<double>(box, "ymax", in_box);
}

std::size_t number_of_objects(const XMLElement& root, const VocOptions& options) {
  std::size_t count = 0;
  for (const XMLElement* object = root.FirstChildElement("object"); object != nullptr;
       object = object->NextSiblingElement("object"))
    ++count;
  if (count <= options.max_objects) return count;
  throw voc_error(ErrorCode::resource_exhausted, options.name,
                  "it has " + std::to_string(count) + " objects, the limit is " + std::to_string(options.max_objects) +
                      "; mend the file or raise VocOptions::max_objects");
}

void read_annotation(const XMLElement& root, const VocOptions& options, VocAnnotation& annotation) {
  annotation.objects.resize(number_of_objects(root, options));
  const Place at_root{.file = options.name};
  const Place in_size = at_root / "size";
  const XMLElement& size = child(root, "size", at_root);
  annotation.width = extent_in(size, "width", in_size);
  annotation.height = extent_in(size, "height", in_size);
  std::size_t count = 0;
  for (const XMLElement* object = root.FirstChildElement("object"); object != nullptr;
       object = object->NextSiblingElement("object")) {
    const std::size_t i = count++;
    read_object(*object, {options.name, nullptr, "object", count}, annotation.objects[i]);
  }
}

// A thread keeps the memory of documents up to this size. That of a document is up to 30 times its
// file's, 16 MiB here; files of ImageNet have 1 to 8 KiB.
constexpr std::size_t largest_kept_file = 512 * KiB;

// Nobody expands them, so the file does not say what it means to say.
bool has_own_entities(const tinyxml2::XMLDocument& document) {
  for (const auto* node = document.FirstChild(); node != nullptr; node = node->NextSibling()) {
    const auto* unknown = node->ToUnknown();
    if (unknown != nullptr && std::string_view(unknown->Value()).find("ENTITY") != std::string_view::npos) return true;
  }
  return false;
}

void parse_with(tinyxml2::XMLDocument& document, std::span<const std::byte> xml, const VocOptions& options,
                VocAnnotation& annotation) {
  document.Parse(reinterpret_cast<const char*>(xml.data()), xml.size());
  if (document.Error())
    throw voc_error(ErrorCode::data_loss, options.name,
                    std::string("it is not well-formed XML (") + document.ErrorIDToName(document.ErrorID()) +
                        " at line " + std::to_string(document.ErrorLineNum()) + ")" + mend);
  if (document.RootElement() == nullptr)
    throw voc_error(ErrorCode::data_loss, options.name, std::string("it holds no XML element") + mend);
  if (has_own_entities(document))
    throw voc_error(ErrorCode::data_loss, options.name,
                    std::string("it has entities of its own, which are not expanded") + mend);
  read_annotation(*document.RootElement(), options, annotation);
}

// An object under one policy; the checks of A.9.
class BoxMaker {
 public:
  BoxMaker(const VocAnnotation& annotation, const BoxOptions& options)
      : options_(options),
        width_(static_cast<double>(annotation.width)),
        height_(static_cast<double>(annotation.height)) {
    if (annotation.width == 1 || annotation.height == 1)
      throw voc_error(ErrorCode::data_loss, options.name,
                      "boxes in a picture of " + size_text() +
                          " cannot be normalised (division by width - 1 and height - 1); take it off the list");
  }

  image::Box make(VocObject object, std::size_t number) const {
    if (options_.policy == BoxPolicy::clamp) clamp(object);
    check(object, number);
    const auto share = [&](double corner, double extent) {
      const auto value = static_cast<float>(corner / (extent - 1));
      if (!std::isfinite(value)) throw error(object, number, "has a corner too large for a float; mend it");
      return value;
    };
    return {share(object.ymin, height_), share(object.xmin, width_), share(object.ymax, height_),
            share(object.xmax, width_)};
  }

 private:
  void clamp(VocObject& object) const {
    bool changed = false;
    const auto cut = [&changed](double& corner, double most) {
      if (corner >= 0 && corner <= most) return;
      if (std::isnan(corner)) return;  // check() refuses it
      corner = corner < 0 ? 0 : most;
      changed = true;
    };
    cut(object.xmin, width_);
    cut(object.xmax, width_);
    cut(object.ymin, height_);
    cut(object.ymax, height_);
    if (changed && options_.clamped != nullptr) ++*options_.clamped;
  }

  static bool is_finite(const VocObject& object) {
    return std::isfinite(object.xmin) && std::isfinite(object.ymin) && std::isfinite(object.xmax) &&
           std::isfinite(object.ymax);
  }

  bool leaves_picture(const VocObject& object) const {
    return object.xmin < 0 || object.ymin < 0 || object.xmax > width_ || object.ymax > height_;
  }

  void check(const VocObject& object, std::size_t number) const {
    if (!is_finite(object)) throw error(object, number, "has a corner that is not finite; mend it");
    if (options_.policy == BoxPolicy::tf) return;
    if (!(object.xmin < object.xmax && object.ymin < object.ymax))
      throw error(object, number, "is reversed or has no area (BoxPolicy::tf would take it as it is)");
    if (leaves_picture(object)) throw error(object, number, "leaves the picture (BoxPolicy::clamp would cut it)");
  }

  Error error(const VocObject& object, std::size_t number, const char* fault) const {
    return voc_error(ErrorCode::data_loss, options_.name,
                     "the box of object[" + std::to_string(number) + "], x " + interval(object.xmin, object.xmax) +
                         ", y " + interval(object.ymin, object.ymax) + " in " + size_text() + ", " + fault);
  }

  static std::string interval(double low, double high) {
    char text[64];
    std::snprintf(text, sizeof text, "%g..%g", low, high);
    return text;
  }

  std::string size_text() const {
    return std::to_string(static_cast<std::int64_t>(width_)) + " x " +
           std::to_string(static_cast<std::int64_t>(height_));
  }

  const BoxOptions& options_;
  double width_, height_;
};

}  // namespace

void parse_voc(std::span<const std::byte> xml, const VocOptions& options, VocAnnotation& annotation) {
  if (xml.size() > options.max_bytes)
    throw voc_error(ErrorCode::resource_exhausted, options.name,
                    "it has " + std::to_string(xml.size()) + " bytes, the limit is " +
                        std::to_string(options.max_bytes) + " (max_bytes, which may be raised)");
  if (xml.size() <= largest_kept_file) {
    thread_local tinyxml2::XMLDocument document;  // keeps its memory pools
    return parse_with(document, xml, options, annotation);
  }
  tinyxml2::XMLDocument document;
  parse_with(document, xml, options, annotation);
}

VocAnnotation parse_voc(std::span<const std::byte> xml, const VocOptions& options) {
  VocAnnotation annotation;
  parse_voc(xml, options, annotation);
  return annotation;
}

VocAnnotation parse_voc(const Tensor& xml, const VocOptions& options) {
  return parse_voc(image::bytes_of(xml), options);
}

void normalised_boxes(const VocAnnotation& annotation, const BoxOptions& options, std::vector<image::Box>& boxes) {
  boxes.clear();
  if (annotation.objects.empty()) return;
  const BoxMaker maker(annotation, options);
  boxes.reserve(annotation.objects.size());
  for (const VocObject& object : annotation.objects) boxes.push_back(maker.make(object, boxes.size() + 1));
}

std::vector<image::PixelBox> pixel_boxes(const VocAnnotation& annotation) {
  std::vector<image::PixelBox> boxes;
  boxes.reserve(annotation.objects.size());
  for (const VocObject& object : annotation.objects) {
    boxes.push_back({static_cast<float>(object.ymin - 1), static_cast<float>(object.xmin - 1),
                     static_cast<float>(object.ymax), static_cast<float>(object.xmax)});
  }
  return boxes;
}

std::vector<image::Box> normalised_boxes(const VocAnnotation& annotation, const BoxOptions& options) {
  std::vector<image::Box> boxes;
  normalised_boxes(annotation, options, boxes);
  return boxes;
}

}  // namespace penstock
