// Annotations that cannot be read, and boxes that are none.
#include "tests/errors/catalogue.h"
#include "tests/hostile/pictures.h"

namespace penstock::errors {
namespace {

using hostile::annotation;
using hostile::object;

// Loads a good picture with this annotation.
std::function<void()> load_crops(const std::string& folder, const std::string& xml,
                                 BoxPolicy policy = BoxPolicy::strict, VocOptions voc = {}) {
  return [=] {
    const std::string path = write(folder + "/Data/n00000001/b.JPEG", hostile::jpeg(30, 40));
    write(folder + "/Annotations/n00000001/b.xml", xml);
    const imagenet::Config config{
        .labels = LabelTable::from_names({"n00000001"}), .size = {8, 8}, .voc = voc, .boxes = policy};
    read(from_vector(std::vector{path}).apply(imagenet::load_crops(config)));
  };
}

Cases xml_cases(const std::string& folder) {
  const std::string good = annotation(object("1", "2", "20", "20"));
  return {
      {"load_crops with an empty annotation", load_crops(folder, "")},
      {"load_crops with an annotation that is a comment", load_crops(folder, "<!-- -->")},
      {"load_crops with half an annotation", load_crops(folder, good.substr(0, good.size() / 2))},
      {"load_crops with an entity bomb", load_crops(folder, hostile::entity_bomb())},
      {"load_crops with an annotation nested 100,000 deep", load_crops(folder, hostile::nested(100'000))},
      {"load_crops with an annotation without a size", load_crops(folder, annotation("", ""))},
      {"load_crops with a size that is no number",
       load_crops(folder, annotation("", "<size><width>many</width></size>"))},
      {"load_crops with a size of 0", load_crops(folder, annotation("", "<size><width>0</width></size>"))},
      {"load_crops with an annotation above the limit",
       load_crops(folder, good, BoxPolicy::strict, {.max_bytes = 100})},
      {"parse_voc of an annotation above the limit",
       in_map([good] { parse_voc(std::as_bytes(std::span(good)), {.max_bytes = 100}); })},
      {"load_crops with more objects than the limit",
       load_crops(folder, annotation(object("1", "1", "2", "2") + object("1", "1", "2", "2")), BoxPolicy::strict,
                  {.max_objects = 1})},
  };
}

Cases box_cases(const std::string& folder) {
  const auto box = [](const char* xmin, const char* xmax) { return annotation(object(xmin, "2", xmax, "20")); };
  const std::string column =
      annotation(object("1", "1", "1", "30"), "<size><width>1</width><height>30</height></size>");
  return {
      {"load_crops of a box outside, strict", load_crops(folder, box("1", "90"))},
      {"load_crops of a reversed box, strict", load_crops(folder, box("30", "3"))},
      {"load_crops of a box that is not a number, strict", load_crops(folder, box("nan", "20"))},
      {"load_crops of a box without end, tf", load_crops(folder, box("1", "inf"), BoxPolicy::tf)},
      {"load_crops of a box beyond what a float holds, tf", load_crops(folder, box("1", "1e300"), BoxPolicy::tf)},
      {"load_crops of a box of which nothing is left, clamp", load_crops(folder, box("50", "90"), BoxPolicy::clamp)},
      {"load_crops of a box in a picture one pixel wide", load_crops(folder, column)},
  };
}

}  // namespace

Cases annotation_cases(const std::string& folder) {
  Cases all = xml_cases(folder);
  for (Case& each : box_cases(folder)) all.push_back(std::move(each));
  return all;
}

}  // namespace penstock::errors
