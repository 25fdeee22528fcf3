#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/voc.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "tests/support/expect_error.h"
#include "tests/support/heap_bytes.h"

namespace penstock {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

VocAnnotation parse(const std::string& xml) { return parse_voc(bytes(xml), {.name = "a.xml"}); }

std::string object(const std::string& corners, const std::string& name = "cat") {
  return "<object><name>" + name + "</name><bndbox>" + corners + "</bndbox></object>";
}

const std::string good_size = "<size><width>500</width><height>375</height><depth>3</depth></size>";
const std::string good_box = "<xmin>1</xmin><ymin>2</ymin><xmax>30</xmax><ymax>40</ymax>";

std::string annotation(const std::string& inside) {
  return "<annotation><folder>x</folder>" + inside + "</annotation>";
}

// What VOC writes as 1..1 is the first pixel, which lies between 0 and 1.
TEST(PixelBoxes, CountFromTheEdgesOfPixels) {
  const VocAnnotation voc = parse(
      annotation(good_size + object(good_box) + object("<xmin>1</xmin><ymin>1</ymin><xmax>1</xmax><ymax>1</ymax>")));
  EXPECT_THAT(pixel_boxes(voc), ElementsAre(image::PixelBox{1, 0, 40, 30}, image::PixelBox{0, 0, 1, 1}));
  EXPECT_THAT(pixel_boxes(VocAnnotation()), IsEmpty());
}

TEST(ParseVoc, ReadsSizeAndObjectsInOrder) {
  const VocAnnotation result =
      parse(annotation(good_size + object(good_box) +
                       object("<xmin> 1.5 </xmin><ymin>+2e0</ymin><xmax>\n30</xmax><ymax>40</ymax>", "dog")));
  EXPECT_EQ(result.width, 500);
  EXPECT_EQ(result.height, 375);
  ASSERT_EQ(result.objects.size(), 2U);
  EXPECT_EQ(result.objects[0].name, "cat");
  EXPECT_EQ(result.objects[0].ymax, 40);
  EXPECT_EQ(result.objects[1].name, "dog");
  EXPECT_EQ(result.objects[1].xmin, 1.5);
  EXPECT_EQ(result.objects[1].ymin, 2);
}

TEST(ParseVoc, LeavesNoTraceOfWhatWasReadBefore) {
  const std::string one = annotation(good_size + "<object><bndbox>" + good_box + "</bndbox></object>");
  const std::string two =
      annotation("<size><width>9</width><height>8</height></size>" + object(good_box) + object(good_box));
  VocAnnotation result;
  const auto parse_into = [&result](const std::string& xml) { parse_voc(bytes(xml), {.name = "a.xml"}, result); };
  parse_into(two);
  EXPECT_THROW(parse_into(annotation(good_size + object(good_box) + object("") + object(good_box))), Error);
  parse_into(one);
  EXPECT_EQ(result.width, 500);
  ASSERT_EQ(result.objects.size(), 1U);
  EXPECT_EQ(result.objects[0].name, "");
  EXPECT_EQ(result.objects[0].ymax, 40);
  std::vector<image::Box> boxes(7);
  normalised_boxes(result, {}, boxes);
  ASSERT_EQ(boxes.size(), 1U);
  EXPECT_EQ(boxes[0].ymax, normalised_boxes(result)[0].ymax);
}

TEST(ParseVoc, NameIsOptionalAndOtherTagsAreIgnored) {
  const VocAnnotation result =
      parse(annotation("<!-- by hand -->" + good_size + "<object><part><bndbox/></part><bndbox>" + good_box +
                       "</bndbox><bndbox>second</bndbox></object>"));
  ASSERT_EQ(result.objects.size(), 1U);
  EXPECT_EQ(result.objects[0].name, "");
  EXPECT_EQ(result.objects[0].xmax, 30);
}

TEST(ParseVoc, NoObjectsAreNoError) { EXPECT_THAT(parse(annotation(good_size)).objects, IsEmpty()); }

TEST(ParseVoc, MissingTagsAreNamed) {
  const auto missing = [](const std::string& inside, const std::string& tag) {
    EXPECT_ERROR(parse(annotation(inside)), ErrorCode::data_loss, "cannot read 'a.xml': tag <" + tag + "> is missing");
  };
  missing("", "size");
  missing("<size><height>1</height></size>", "size/width");
  missing("<size><width>1</width></size>", "size/height");
  missing(good_size + object(good_box) + "<object><name>x</name></object>", "object[2]/bndbox");
  missing(good_size + object("<xmin>1</xmin><ymin>2</ymin><xmax>3</xmax>"), "object[1]/bndbox/ymax");
}

TEST(ParseVoc, TextsThatAreNoNumbersAreShown) {
  const auto refused = [](const std::string& xmin) {
    EXPECT_ERROR(parse(annotation(good_size + object("<xmin>" + xmin + "</xmin><ymin>2</ymin>"))), ErrorCode::data_loss,
                 "tag <object[1]/bndbox/xmin> holds '");
  };
  for (const char* text : {"", " ", "twelve", "12px", "1,5", "0x10", "+-1", "1e999", "<b>1</b>"}) refused(text);
}

TEST(ParseVoc, SizesThatAreNoneAreRefused) {
  const auto refused = [](const std::string& width, const char* part) {
    EXPECT_ERROR(parse(annotation("<size><width>" + width + "</width><height>1</height></size>")), ErrorCode::data_loss,
                 part);
  };
  refused("0", "must be at least 1");
  refused("-5", "must be at least 1");
  refused("500.0", "not a number that fits");
  refused("99999999999999999999", "not a number that fits");
}

TEST(ParseVoc, CornersMayBeAnyNumber) {
  const VocAnnotation result =
      parse(annotation(good_size + object("<xmin>nan</xmin><ymin>-inf</ymin><xmax>-7</xmax><ymax>1e300</ymax>")));
  EXPECT_TRUE(std::isnan(result.objects[0].xmin));
  EXPECT_EQ(result.objects[0].ymin, -inf);
}

TEST(ParseVoc, BrokenXmlIsRefusedWithItsLine) {
  EXPECT_ERROR(parse(""), ErrorCode::data_loss, "not well-formed");
  EXPECT_ERROR(parse("\n\n<annotation><size>"), ErrorCode::data_loss, "at line 3");
  EXPECT_ERROR(parse("<annotation></size>"), ErrorCode::data_loss, "not well-formed");
  EXPECT_ERROR(parse("just text"), ErrorCode::data_loss, "a.xml");
  EXPECT_ERROR(parse("<!-- nothing -->"), ErrorCode::data_loss, "no XML element");
}

TEST(ParseVoc, EveryCutFileIsRefused) {
  const std::string whole = annotation(good_size + object(good_box));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(parse(whole.substr(0, length)), Error) << length;
}

TEST(ParseVoc, EntitiesAreNeverExpanded) {
  std::string bomb = "<!DOCTYPE a [<!ENTITY a0 \"99999999\">";
  for (int i = 1; i < 20; ++i) {
    const std::string inner = "&a" + std::to_string(i - 1) + ";";
    bomb += "<!ENTITY a" + std::to_string(i) + " \"" + inner + inner + inner + inner + "\">";
  }
  bomb += "]>" + annotation("<size><width>&a19;</width><height>1</height></size>");
  EXPECT_ERROR(parse(bomb), ErrorCode::data_loss, "a.xml");
}

TEST(ParseVoc, DeepNestingIsRefused) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  EXPECT_ERROR(parse(annotation(deep)), ErrorCode::data_loss, "DEPTH");
}

TEST(ParseVoc, LargeFilesAreRefused) {
  const std::string large = annotation(good_size + std::string(1000, ' '));
  EXPECT_ERROR(parse_voc(bytes(large), {.max_bytes = 1000}), ErrorCode::resource_exhausted, "max_bytes");
  EXPECT_NO_THROW(parse_voc(bytes(large), {.max_bytes = large.size()}));
}

TEST(ParseVoc, TooManyObjectsAreRefused) {
  std::string objects;
  for (int i = 0; i < 3; ++i) objects += object(good_box);
  const std::string xml = annotation(good_size + objects);
  EXPECT_ERROR(parse_voc(bytes(xml), {.max_objects = 2, .name = "a.xml"}), ErrorCode::resource_exhausted,
               "'a.xml': it has 3 objects, the limit is 2; mend the file or raise "
               "VocOptions::max_objects");
  EXPECT_EQ(parse_voc(bytes(xml), {.max_objects = 3}).objects.size(), 3U);
}

TEST(ParseVoc, AThousandObjectsAreTakenByDefault) {
  std::string objects;
  for (int i = 0; i < 1000; ++i) objects += object(good_box);
  EXPECT_EQ(parse(annotation(good_size + objects)).objects.size(), 1000U);
  EXPECT_ERROR(parse(annotation(good_size + objects + object(good_box))), ErrorCode::resource_exhausted,
               "1001 objects");
}

TEST(ParseVoc, LargeFilesLeaveNoMemoryBehind) {
  std::string many;
  for (int i = 0; i < 400'000; ++i) many += "<a/>";
  const std::string xml = annotation(good_size + many);
  const std::size_t before = test::heap_bytes();
  EXPECT_EQ(parse(xml).width, 500);
  EXPECT_LT(test::heap_bytes(), before + (16 << 20));
}

VocAnnotation one_box(double xmin, double ymin, double xmax, double ymax) {
  return {.width = 500, .height = 375, .objects = {{"x", xmin, ymin, xmax, ymax}}};
}

image::Box box_under(BoxPolicy policy, const VocAnnotation& annotation) {
  return normalised_boxes(annotation, {.policy = policy, .name = "a.xml"}).at(0);
}

// In double, then rounded.
image::Box expected_box(double xmin, double ymin, double xmax, double ymax) {
  return {static_cast<float>(ymin / 374), static_cast<float>(xmin / 499), static_cast<float>(ymax / 374),
          static_cast<float>(xmax / 499)};
}

TEST(NormalisedBoxes, ValidBoxesAreEqualUnderEveryPolicy) {
  for (const BoxPolicy policy : {BoxPolicy::strict, BoxPolicy::clamp, BoxPolicy::tf}) {
    EXPECT_EQ(box_under(policy, one_box(1, 1, 500, 375)), expected_box(1, 1, 500, 375));
    EXPECT_EQ(box_under(policy, one_box(0, 0, 0.5, 7)), expected_box(0, 0, 0.5, 7));
  }
}

TEST(NormalisedBoxes, BoxesBeyondThePictureFollowThePolicy) {
  const VocAnnotation beyond = one_box(-5, 10, 600, 380);
  EXPECT_ERROR(box_under(BoxPolicy::strict, beyond), ErrorCode::data_loss, "leaves the picture");
  EXPECT_EQ(box_under(BoxPolicy::clamp, beyond), expected_box(0, 10, 500, 375));
  EXPECT_EQ(box_under(BoxPolicy::tf, beyond), expected_box(-5, 10, 600, 380));
}

TEST(NormalisedBoxes, ReversedAndEmptyBoxesAreTakenByTfOnly) {
  for (const auto& box : {one_box(30, 10, 20, 40), one_box(10, 40, 20, 30), one_box(5, 5, 5, 9), one_box(5, 9, 8, 9),
                          one_box(501, 0, 600, 10)}) {
    EXPECT_ERROR(box_under(BoxPolicy::strict, box), ErrorCode::data_loss, "object[1]");
    EXPECT_ERROR(box_under(BoxPolicy::clamp, box), ErrorCode::data_loss, "no area");
    EXPECT_NO_THROW(box_under(BoxPolicy::tf, box));
  }
  EXPECT_EQ(box_under(BoxPolicy::tf, one_box(30, 10, 20, 40)), expected_box(30, 10, 20, 40));
}

TEST(NormalisedBoxes, CornersThatAreNotFiniteAreRefused) {
  for (const BoxPolicy policy : {BoxPolicy::strict, BoxPolicy::clamp, BoxPolicy::tf})
    for (const auto& box : {one_box(nan, 1, 2, 2), one_box(1, nan, 2, 2), one_box(1, 1, nan, 2), one_box(1, 1, 2, nan)})
      EXPECT_ERROR(box_under(policy, box), ErrorCode::data_loss, "not finite");
  EXPECT_ERROR(box_under(BoxPolicy::tf, one_box(-inf, 1, inf, 2)), ErrorCode::data_loss, "finite");
  EXPECT_EQ(box_under(BoxPolicy::clamp, one_box(-inf, 1, inf, 2)), expected_box(0, 1, 500, 2));
}

TEST(NormalisedBoxes, ClampCountsWhatItChanged) {
  VocAnnotation annotation = one_box(-1, 1, 20, 20);
  annotation.objects.push_back({"y", 1, 1, 500, 375});
  annotation.objects.push_back({"z", 1, 1, 501, 376});
  std::int64_t clamped = 0;
  EXPECT_EQ(normalised_boxes(annotation, {.policy = BoxPolicy::clamp, .clamped = &clamped}).size(), 3U);
  EXPECT_EQ(clamped, 2);
}

TEST(NormalisedBoxes, NoObjectsGiveNoBoxes) {
  EXPECT_THAT(normalised_boxes({.width = 500, .height = 375, .objects = {}}), IsEmpty());
}

TEST(NormalisedBoxes, PicturesOfOneColumnCannotBeNormalised) {
  for (const auto& [w, h] : {std::pair(1, 5), std::pair(5, 1)}) {
    const VocAnnotation line{.width = w, .height = h, .objects = {{"x", 0, 0, 1, 1}}};
    EXPECT_ERROR(normalised_boxes(line, {.policy = BoxPolicy::tf}), ErrorCode::data_loss, "cannot be normalised");
  }
}

TEST(AnnotationPaths, SiblingFolderOfTheIlsvrcLayout) {
  EXPECT_THAT(annotation_paths("/d/ILSVRC/Data/CLS-LOC/train/n01440764/n01440764_1.JPEG"),
              ElementsAre("/d/ILSVRC/Annotations/CLS-LOC/train/n01440764/n01440764_1.xml"));
  EXPECT_THAT(annotation_paths("Data/x.jpg"), ElementsAre("Annotations/x.xml"));
}

TEST(AnnotationPaths, OnlyWholeComponentsAndTheExtensionAreRewritten) {
  EXPECT_THAT(annotation_paths("/Data/MyData/Data/CLS-LOC/JPEG/a.b.JPEG.JPEG"),
              ElementsAre("/Data/MyData/Annotations/CLS-LOC/JPEG/a.b.JPEG.xml"));
  EXPECT_THAT(annotation_paths("/Data/x.v2/noextension"), ElementsAre("/Annotations/x.v2/noextension.xml"));
  EXPECT_THAT(annotation_paths("/Data.1/DataX/a.JPEG"), IsEmpty());
  EXPECT_THAT(annotation_paths("/a/Data"), IsEmpty());
  EXPECT_THAT(annotation_paths("Data"), IsEmpty());
  EXPECT_THAT(annotation_paths(""), IsEmpty());
}

TEST(AnnotationPaths, NamedFolderIsSearchedByClassAndFlat) {
  EXPECT_THAT(annotation_paths("/d/Data/n01440764/a.JPEG", "/x"), ElementsAre("/x/n01440764/a.xml", "/x/a.xml"));
  EXPECT_THAT(annotation_paths("a.JPEG", "x/"), ElementsAre("x/a.xml"));
  EXPECT_THAT(annotation_paths("/.hidden", "x"), ElementsAre("x//.hidden.xml", "x/.hidden.xml"));
}

class AnnotationFiles : public ::testing::Test {
 protected:
  AnnotationFiles() : root_(::testing::TempDir() + "penstock_voc_test" + std::to_string(::getpid())) {
    std::filesystem::create_directories(root_ + "/Annotations/c");
    write("/Annotations/c/a.xml", "in class");
    write("/Annotations/b.xml", "flat");
  }
  ~AnnotationFiles() override { std::filesystem::remove_all(root_); }

  void write(const std::string& name, const std::string& text) { std::ofstream(root_ + name) << text; }

  static std::string text_of(const std::optional<AnnotationFile>& file) {
    if (!file) return "missing";
    return {reinterpret_cast<const char*>(file->xml.data()), file->xml.bytes()};
  }

  std::string root_;
};

TEST_F(AnnotationFiles, AreFoundWhereTheyLie) {
  EXPECT_EQ(text_of(read_annotation(root_ + "/Data/c/a.JPEG")), "in class");
  EXPECT_EQ(text_of(read_annotation("elsewhere/c/a.JPEG", root_ + "/Annotations")), "in class");
  EXPECT_EQ(text_of(read_annotation("elsewhere/c/b.JPEG", root_ + "/Annotations")), "flat");
  EXPECT_EQ(text_of(read_annotation(root_ + "/Data/c/none.JPEG")), "missing");
  EXPECT_EQ(text_of(read_annotation("no/layout.JPEG")), "missing");
  EXPECT_EQ(read_annotation("elsewhere/c/b.JPEG", root_ + "/Annotations").value().path, root_ + "/Annotations/b.xml");
}

TEST_F(AnnotationFiles, AreReadIntoTheSameMemoryAgain) {
  AnnotationFile file;
  EXPECT_TRUE(read_annotation("elsewhere/c/b.JPEG", root_ + "/Annotations", 1000, file));
  EXPECT_EQ(text_of(file), "flat");
  EXPECT_TRUE(read_annotation(root_ + "/Data/c/a.JPEG", {}, 1000, file));
  EXPECT_EQ(text_of(file), "in class");
  EXPECT_EQ(file.path, root_ + "/Annotations/c/a.xml");
  EXPECT_FALSE(read_annotation(root_ + "/Data/c/none.JPEG", {}, 1000, file));
}

TEST_F(AnnotationFiles, OtherFaultsThanMissingAreErrors) {
  std::filesystem::create_directories(root_ + "/Annotations/folder.xml");
  EXPECT_ERROR(read_annotation(root_ + "/Data/folder.JPEG"), ErrorCode::invalid_argument, "folder.xml");
}

TEST_F(AnnotationFiles, AboveTheLimitAreNotRead) {
  write("/Annotations/large.xml", "");
  std::filesystem::resize_file(root_ + "/Annotations/large.xml", VocOptions{}.max_bytes + 1);
  EXPECT_ERROR(read_annotation(root_ + "/Data/large.JPEG"), ErrorCode::resource_exhausted,
               "large.xml': it has 16777217 bytes or more, the limit is 16777216");
  EXPECT_ERROR(read_annotation(root_ + "/Data/c/a.JPEG", {}, 3), ErrorCode::resource_exhausted, "the limit is 3");
}

}  // namespace
}  // namespace penstock
