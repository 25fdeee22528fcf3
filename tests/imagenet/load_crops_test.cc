#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/image/crop_and_resize.h>
#include <penstock/imagenet.h>
#include <penstock/io.h>
#include <penstock/sources.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "ops/imagenet/decode_op.h"
#include "ops/imagenet/read_op.h"
#include "tests/support/examples.h"
#include "tests/support/expect_error.h"
#include "tests/support/pictures/sample_set.h"

namespace penstock::imagenet {
namespace {

using pictures::SampleSet;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Config small_config(const SampleSet& set) {
  return {.labels = labels_of(set.paths()), .size = {16, 12}, .counters = std::make_shared<Counters>()};
}

Dataset<Example> crops_of(const SampleSet& set, const Config& config) {
  return from_vector(set.paths()).apply(load_crops(config)).unbatch();
}

// The same work as a loop over the functions that load_crops is made of.
std::vector<Example> plain_loop(const SampleSet& set, const Config& config) {
  std::vector<Example> examples;
  for (std::size_t i = 0; i < set.paths().size(); ++i) {
    const std::string& path = set.paths()[i];
    std::vector<image::Box> boxes{image::Box{}};
    if (std::filesystem::exists(set.annotation_of(path)))
      boxes = normalised_boxes(parse_voc(read_file(set.annotation_of(path))));
    const Tensor image = image::decode_jpeg(image::bytes_of(read_file(path)));
    const Tensor crops = image::crop_and_resize(image::view_of(image), boxes, config.size);
    const std::int32_t label = path[path.rfind("/n0000000") + 9] - '0';
    for (std::size_t b = 0; b < boxes.size(); ++b)
      examples.push_back({crops.row(static_cast<std::int64_t>(b)),
                          label,
                          {boxes[b].ymin, boxes[b].xmin, boxes[b].ymax, boxes[b].xmax},
                          static_cast<std::int64_t>(i)});
  }
  return examples;
}

TEST(LoadCrops, EqualsAPlainLoopOverTheImageFunctions) {
  const SampleSet set(24);
  const Config config = small_config(set);
  const auto expected = plain_loop(set, config);
  ASSERT_GT(expected.size(), 24U);
  test::expect_equal(test::collect(crops_of(set, config)), expected);
}

class RunSettings : public ::testing::TestWithParam<RunOptions> {};

TEST_P(RunSettings, ChangeNeitherValuesNorOrderOfCrops) {
  const SampleSet set(24);
  const Config config = small_config(set);
  test::expect_equal(test::collect(crops_of(set, config), GetParam()), plain_loop(set, config));
}

INSTANTIATE_TEST_SUITE_P(LoadCrops, RunSettings,
                         ::testing::Values(RunOptions{.serial = true}, RunOptions{.threads = 1},
                                           RunOptions{.threads = 2}, RunOptions{.threads = 8},
                                           RunOptions{.memory_bytes = 16 * KiB}, RunOptions{.memory_bytes = 64 * MiB},
                                           RunOptions{.memory_bytes = 4 * GiB}));

TEST(LoadCrops, DefaultSizeIs256) {
  const SampleSet set(2);
  const auto examples = test::collect(crops_of(set, {.labels = labels_of(set.paths())}));
  ASSERT_FALSE(examples.empty());
  EXPECT_EQ(examples[0].image.shape(), (Shape{256, 256, 3}));
}

TEST(LoadCrops, OtherTypesAreTheFloatsRounded) {
  const SampleSet set(9);
  Config config = small_config(set);
  const auto floats = test::collect(crops_of(set, config));
  for (const DType type : {DType::f16, DType::bf16, DType::u8}) {
    config.dtype = type;
    const auto examples = test::collect(crops_of(set, config));
    ASSERT_EQ(examples.size(), floats.size());
    for (std::size_t i = 0; i < floats.size(); ++i)
      EXPECT_EQ(examples[i].image, test::rounded(floats[i].image, type)) << to_string(type);
  }
}

TEST(LoadCrops, PlanesHoldTheSameValues) {
  const SampleSet set(9);
  Config config = small_config(set);
  for (const DType type : {DType::f32, DType::f16, DType::u8}) {
    config.dtype = type;
    config.layout = image::Layout::nhwc;
    const auto pixels = test::collect(crops_of(set, config));
    config.layout = image::Layout::nchw;
    const auto planes = test::collect(crops_of(set, config));
    ASSERT_EQ(planes.size(), pixels.size());
    for (std::size_t i = 0; i < pixels.size(); ++i)
      EXPECT_EQ(planes[i].image, test::planes_of(pixels[i].image)) << to_string(type);
  }
}

TEST(LoadCrops, MissingAnnotationMeansTheWholePictureAndIsCounted) {
  const SampleSet set(2);
  std::filesystem::remove_all(set.folder() / "Annotations");
  const Config config = small_config(set);
  const auto examples = test::collect(crops_of(set, config));
  ASSERT_EQ(examples.size(), 2U);
  EXPECT_EQ(examples[0].box, (std::array<float, 4>{0, 0, 1, 1}));
  EXPECT_EQ(config.counters->missing_annotations, 2);
  EXPECT_EQ(config.counters->images, 2);
  EXPECT_EQ(config.counters->examples, 2);
}

TEST(LoadCrops, OfAFileThatIsRefusedRepairsAreNotCounted) {
  const SampleSet set(2);
  std::filesystem::remove_all(set.folder() / "Annotations");
  std::ofstream(set.paths()[0]) << "no picture";
  const Config config = small_config(set);
  EXPECT_EQ(test::collect(crops_of(set, config).ignore_errors()).size(), 1U);
  EXPECT_EQ(config.counters->missing_annotations, 1);
}

TEST(LoadCrops, CountsTheBytesOfPicturesAndAnnotationsThatItHasRead) {
  const SampleSet set(6);
  const Config config = small_config(set);
  test::collect(crops_of(set, config));
  std::uintmax_t bytes = 0;
  for (const auto& each : std::filesystem::recursive_directory_iterator(set.folder())) {
    if (each.path().extension() == ".JPEG" || each.path().extension() == ".xml") bytes += each.file_size();
  }
  EXPECT_EQ(config.counters->file_bytes, static_cast<std::int64_t>(bytes));
}

// Whatever becomes of them: libjpeg, which is asked next, does not read it either.
TEST(LoadCrops, WhatOurDecoderRefusesIsCountedThoughTheFileIsAnError) {
  const SampleSet set(1);
  std::filesystem::resize_file(set.paths()[0], std::filesystem::file_size(set.paths()[0]) / 2);
  const Config config = small_config(set);
  EXPECT_EQ(test::collect(crops_of(set, config).ignore_errors()).size(), 0U);
  std::int64_t refused = 0;
  for (const auto& count : config.counters->refused) refused += count;
  EXPECT_EQ(refused, 1);
}

// What waits to be decoded is read by then, whichever of it is a picture's.
TEST(LoadedFile, CountsItsAnnotation) {
  LoadedFile file{.path = {},
                  .jpeg = Tensor(DType::u8, {70}),
                  .annotation = LoadedAnnotation{.path = {}, .xml = Tensor(DType::u8, {500}), .boxes = std::nullopt}};
  const std::size_t before = bytes_of(file);
  file.annotation->xml = Tensor();
  EXPECT_EQ(before - bytes_of(file), 500U);
}

TEST(LoadCrops, AnnotationWithoutObjectsGivesNoExample) {
  const SampleSet set(1);
  const Config config = small_config(set);
  EXPECT_THAT(test::collect(crops_of(set, config)), ::testing::IsEmpty());
  EXPECT_EQ(config.counters->images, 1);
  EXPECT_EQ(config.counters->missing_annotations, 0);
}

TEST(LoadCrops, ReadsAnnotationsFromTheFolderNamed) {
  const SampleSet set(3);
  Config config = small_config(set);
  config.annotations = (set.folder() / "Annotations/CLS-LOC/train").string();
  const SampleSet elsewhere(3);
  std::filesystem::remove_all(elsewhere.folder() / "Annotations");
  const auto examples = test::collect(crops_of(elsewhere, config));
  EXPECT_EQ(examples.size(), 3U);  // 0, 1 and 2 boxes
}

TEST(LoadCrops, BrokenPictureIsAnErrorInItsPlace) {
  const SampleSet set(6);
  SampleSet::write(set.paths()[3], "no picture");
  auto run = crops_of(set, small_config(set)).start();
  std::vector<std::int64_t> files;
  std::vector<std::string> errors;
  for (;;) {
    try {
      auto example = run.next();
      if (!example) break;
      files.push_back(example->file);
    } catch (const ElementError& error) {
      EXPECT_EQ(files.empty() ? -1 : files.back(), 2);
      EXPECT_EQ(error.code(), ErrorCode::data_loss);
      errors.push_back(error.what());
    }
  }
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors[0], ::testing::HasSubstr(set.paths()[3]));
  EXPECT_THAT(files, ::testing::Contains(4));
  EXPECT_THAT(files, ::testing::Not(::testing::Contains(3)));
}

TEST(LoadCrops, BrokenPictureIsSkippedOnRequest) {
  const SampleSet set(6);
  const Config config = small_config(set);
  auto expected = plain_loop(set, config);
  std::erase_if(expected, [](const Example& example) { return example.file == 3; });
  SampleSet::write(set.paths()[3], "no picture");
  test::expect_equal(test::collect(crops_of(set, config), {.on_error = skip_all()}), expected);
}

TEST(LoadCrops, MissingPictureNamesItsPath) {
  const SampleSet set(2);
  std::filesystem::remove(set.paths()[1]);
  EXPECT_ERROR(test::collect(crops_of(set, small_config(set))), ErrorCode::not_found, set.paths()[1]);
}

TEST(LoadCrops, BadAnnotationIsAnErrorThatNamesPictureAndXml) {
  const SampleSet set(2);
  const std::string& picture = set.paths()[1];
  const std::string xml = set.annotation_of(picture);
  SampleSet::write(xml, "<annotation><size>");
  EXPECT_ERROR(test::collect(crops_of(set, small_config(set))), ErrorCode::data_loss,
               "'" + picture + "') of epoch 0: cannot read '" + xml + "': it is not well-formed");
}

TEST(LoadCrops, AnnotationWithTooManyObjectsIsAnError) {
  const SampleSet set(3);
  Config config = small_config(set);
  config.voc.max_objects = 1;  // the last picture has two
  EXPECT_ERROR(test::collect(crops_of(set, config)), ErrorCode::resource_exhausted, "it has 2 objects, the limit is 1");
}

// What reading makes of a picture's files.
Element read_file_of(const SampleSet& set, const std::string& path) {
  auto run = from_vector(std::vector{path})
                 .then<LoadedFile>(read_op(std::make_shared<Config>(small_config(set)), Annotations::all))
                 .start({.serial = true});
  return Element(std::move(*run.next()));
}

std::size_t reserved_to_read(const SampleSet& set, const std::string& path, Annotations annotations) {
  const OpRef op = read_op(std::make_shared<Config>(small_config(set)), annotations);
  return dynamic_cast<const ElementwiseOp&>(*op).bytes_hint(Element(path)).value();
}

TEST(LoadCrops, ReservesForTheAnnotationToo) {
  const SampleSet set(3);
  const std::string& path = set.paths()[2];
  const std::size_t picture = std::filesystem::file_size(path);
  SampleSet::write(set.annotation_of(path), std::string(8 * KiB, ' '));  // as large as ImageNet's become
  EXPECT_GE(reserved_to_read(set, path, Annotations::all), picture + 8 * KiB);
  EXPECT_EQ(reserved_to_read(set, path, Annotations::where_path_has_no_label), picture);
}

// Before the picture is decoded.
TEST(LoadCrops, TellsTheNumberOfExamplesByWhatWasRead) {
  const SampleSet set(4);  // 0, 1 and 2 boxes, no annotation
  const OpRef op = crop_op(std::make_shared<Config>(small_config(set)));
  const auto& crops = dynamic_cast<const ElementwiseOp&>(*op);
  std::vector<std::size_t> counts;
  for (const std::string& path : set.paths()) counts.push_back(crops.outputs_of(read_file_of(set, path)).value());
  std::ranges::sort(counts);
  EXPECT_THAT(counts, ::testing::ElementsAre(0, 1, 1, 2));
}

TEST(LoadCrops, ABadAnnotationReservesForNoExample) {
  const SampleSet set(3);
  const OpRef op = crop_op(std::make_shared<Config>(small_config(set)));
  const auto& crops = dynamic_cast<const ElementwiseOp&>(*op);
  const std::string& path = set.paths()[2];
  const auto good = crops.bytes_hint(read_file_of(set, path)).value();
  SampleSet::write(set.annotation_of(path), "<object <object <object <object");
  const Element bad = read_file_of(set, path);
  EXPECT_EQ(crops.outputs_of(bad), 0U);
  EXPECT_LT(crops.bytes_hint(bad).value(), good);
}

TEST(LoadCrops, ReservesForThePictureAndTheDecodersCopyOfItsFile) {
  const SampleSet set(1);  // 0 boxes
  const OpRef op = crop_op(std::make_shared<Config>(small_config(set)));
  const Tensor file = read_file(set.paths()[0]);
  const auto hint = dynamic_cast<const ElementwiseOp&>(*op).bytes_hint(read_file_of(set, set.paths()[0])).value();
  EXPECT_EQ(hint, image::decode_jpeg(image::bytes_of(file)).bytes() + file.bytes());
}

TEST(LoadCrops, UnknownLabelIsAnError) {
  const SampleSet set(3);
  Config config = small_config(set);
  config.labels = LabelTable::from_names({"n00000000", "n00000001"});
  EXPECT_ERROR(test::collect(crops_of(set, config)), ErrorCode::not_found, "n00000002");
}

TEST(LoadCrops, PolicyDecidesOnBoxesThatLeaveThePicture) {
  const SampleSet set(2);
  const std::string& path = set.paths()[1];
  SampleSet::write(set.annotation_of(path),
                   "<annotation><size><width>33</width><height>25</height></size><object><bndbox>"
                   "<xmin>5</xmin><ymin>5</ymin><xmax>99</xmax><ymax>20</ymax></bndbox></object></annotation>");
  Config config = small_config(set);
  EXPECT_ERROR(test::collect(crops_of(set, config)), ErrorCode::data_loss,
               "cannot read '" + set.annotation_of(path) + "': the box of object[1]");
  config.boxes = BoxPolicy::clamp;
  const auto clamped = test::collect(crops_of(set, config));
  EXPECT_EQ(config.counters->clamped_boxes, 1);
  ASSERT_FALSE(clamped.empty());
  EXPECT_FLOAT_EQ(clamped.back().box[3], 33.0F / 32);
  config.boxes = BoxPolicy::tf;
  EXPECT_FLOAT_EQ(test::collect(crops_of(set, config)).back().box[3], 99.0F / 32);
}

// Why the pipeline cannot be built, as GraphError says it.
std::string refusal_of(const Config& config) {
  try {
    from_vector<std::string>({"a.JPEG"}).take(1).apply(load_crops(config));
  } catch (const GraphError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(LoadCrops, RefusesAConfigThatCannotWork) {
  const LabelTable labels = LabelTable::from_names({"n00000000"});
  EXPECT_THAT(refusal_of({}), HasSubstr("labels is empty"));
  EXPECT_THAT(refusal_of({.labels = labels, .size = {0, 5}}), HasSubstr("size must be positive"));
  EXPECT_THAT(refusal_of({.labels = labels, .size = {1 << 16, 1 << 16}}),
              HasSubstr("below 2^29 values, but is 65536 x 65536"));
  EXPECT_THAT(refusal_of({.labels = labels, .dtype = DType::i64}), HasSubstr("dtype must be"));
  EXPECT_THAT(refusal_of({.labels = labels, .read_parallelism = 0}), HasSubstr("read_parallelism must be at least 1"));
  EXPECT_THAT(refusal_of({.labels = labels, .decode_parallelism = 0}),
              HasSubstr("decode_parallelism must be at least 1"));
}

TEST(LoadCrops, RefusalsNameOpPlaceAndLine) {
  EXPECT_THAT(refusal_of({}), AllOf(StartsWith("load_crops: "), HasSubstr("(op 2 of the chain, load_crops_test.cc:")));
}

TEST(LoadCrops, BatchesAreContiguousColumns) {
  const SampleSet set(6);
  const Config config = small_config(set);
  const auto expected = plain_loop(set, config);
  std::size_t row = 0;
  for (auto&& batch : crops_of(set, config).batch(4)) {
    const Tensor& images = batch.column<&Example::image>();
    for (std::int64_t i = 0; i < batch.size(); ++i, ++row) {
      EXPECT_EQ(images.row(i), expected[row].image);
      EXPECT_EQ(batch.column<&Example::label>()[static_cast<std::size_t>(i)], expected[row].label);
    }
  }
  EXPECT_EQ(row, expected.size());
}

}  // namespace
}  // namespace penstock::imagenet
