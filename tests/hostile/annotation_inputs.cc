#include <array>
#include <filesystem>

#include "tests/hostile/inputs.h"
#include "tests/hostile/pictures.h"

namespace penstock::hostile {
namespace {

namespace fs = std::filesystem;

using Make = std::function<void(const Place&)>;

// A good picture, whose annotation is made by `annotate`.
Make beside(const Make& annotate) {
  return [annotate](const Place& place) {
    write(place.picture, jpeg(30, 40));
    annotate(place);
  };
}

Make with_xml(const std::string& xml) {
  return beside([xml](const Place& place) { write(place.annotation, xml); });
}

// 100 MB that take no room on the disk.
void write_100_megabytes(const Place& place) {
  write(place.annotation, "<annotation>");
  fs::resize_file(place.annotation, 100'000'000);
}

void write_unreadable(const Place& place) {
  write(place.annotation, annotation(""));
  fs::permissions(place.annotation, fs::perms::none);
}

std::string objects(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += object("1", "2", "20", "20");
  return text;
}

std::vector<Input> files() {
  const Mode small{"boxes tf", BoxPolicy::tf, [](auto& config) { config.voc.max_bytes = 1000; }};
  const Mode few{"boxes tf", BoxPolicy::tf, [](auto& config) { config.voc.max_objects = 2; }};
  return {
      {"no XML", beside([](const Place&) {}), tf, delivered("missing XML 1")},
      {"a folder for XML", beside([](const Place& place) { fs::create_directory(place.annotation); }), tf,
       refused(ErrorCode::invalid_argument, "Is a directory")},
      {"XML that may not be read", beside(write_unreadable), tf,
       refused(ErrorCode::permission_denied, "Permission denied"), true},
      {"100 MB of XML", beside(write_100_megabytes), tf, refused(exhausted, "the limit is 16777216")},
      {"2 KB of XML where 1,000 bytes are the limit", with_xml(annotation(objects(20))), small,
       refused(exhausted, "the limit is 1000")},
      {"1,001 objects", with_xml(annotation(objects(1001))), tf, refused(exhausted, "the limit is 1000")},
      {"3 objects where 2 are the limit", with_xml(annotation(objects(3))), few, refused(exhausted, "the limit is 2;")},
  };
}

std::vector<Input> texts() {
  const std::string good = annotation(objects(1));
  const auto sized = [](const char* width) {
    return annotation(objects(1), "<size><width>" + std::string(width) + "</width><height>30</height></size>");
  };
  return {
      {"XML without an object", with_xml(annotation("")), tf, delivered("no box 1")},
      {"empty XML", with_xml(""), tf, refused(data_loss, "not well-formed")},
      {"half of the XML", with_xml(good.substr(0, good.size() / 2)), tf, refused(data_loss, "not well-formed")},
      {"a JPEG for XML", with_xml(jpeg(30, 40)), tf, refused(data_loss, "not well-formed")},
      {"XML of NULs", with_xml(std::string(1000, '\0')), tf, refused(data_loss, "not well-formed")},
      {"an entity bomb", with_xml(entity_bomb()), tf, refused(data_loss, "entities")},
      {"XML nested 100,000 deep", with_xml(nested(100'000)), tf, refused(data_loss, "DEPTH")},
      {"XML without a size", with_xml(annotation("", "")), tf, refused(data_loss, "<size> is missing")},
      {"a width of 0", with_xml(sized("0")), tf, refused(data_loss, "must be at least 1")},
      {"a width of 1 in the XML", with_xml(sized("1")), tf, refused(data_loss, "cannot be normalised")},
      {"a width of 10^20", with_xml(sized("100000000000000000000")), tf, refused(data_loss, "not a number that fits")},
      {"a width that is a word", with_xml(sized("wide")), tf, refused(data_loss, "'wide'")},
      {"an object without a box", with_xml(annotation("<object><name>thing</name></object>")), tf,
       refused(data_loss, "<object[1]/bndbox> is missing")},
  };
}

struct BadBox {
  const char* name;
  const char* xmin;
  const char* xmax;
  Fate tf, strict, clamp;
};

}  // namespace

std::vector<Input> annotations() {
  std::vector<Input> all = files();
  for (Input& each : texts()) all.push_back(std::move(each));
  return all;
}

std::vector<Input> boxes() {
  const Fate fine = delivered(), cut = delivered("clamped 1");
  const Fate leaves = refused(data_loss, "leaves the picture"), no_area = refused(data_loss, "no area"),
             not_finite = refused(data_loss, "not finite"), no_number = refused(data_loss, "not a number");
  const std::array<BadBox, 11> bad{{
      {"a box inside", "1", "20", fine, fine, fine},
      {"a box that leaves the picture", "30", "90", fine, leaves, cut},
      {"a box that begins before the picture", "-5", "20", fine, leaves, cut},
      {"a box outside", "50", "90", fine, leaves, no_area},
      {"a reversed box", "30", "3", fine, no_area, no_area},
      {"a box without area", "20", "20", fine, no_area, no_area},
      {"a corner that is NaN", "nan", "20", not_finite, not_finite, not_finite},
      {"a corner that is infinite", "1", "inf", not_finite, not_finite, cut},
      {"corners from -inf to inf", "-inf", "inf", not_finite, not_finite, cut},
      {"a corner of 1e300", "1", "1e300", refused(data_loss, "too large"), leaves, cut},
      {"a corner that is a word", "left", "20", no_number, no_number, no_number},
  }};
  std::vector<Input> all;
  for (const BadBox& box : bad) {
    const Make make = with_xml(annotation(object(box.xmin, "2", box.xmax, "20")));
    all.push_back({box.name, make, tf, box.tf});
    all.push_back({box.name, make, strict, box.strict});
    all.push_back({box.name, make, clamp, box.clamp});
  }
  return all;
}

}  // namespace penstock::hostile
