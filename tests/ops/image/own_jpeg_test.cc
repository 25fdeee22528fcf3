// Our own JPEG decoder against libjpeg itself: the same pixels, of whole pictures and of windows.
//
//   image_test                     2,000 generated files, 6,000 windows of them
//   PENSTOCK_FULL=1 image_test     20,000 and 60,000
#include <gtest/gtest.h>
#include <penstock/image/jpeg.h>

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "bench/imagenet/full_decode.h"
#include "ops/image/jpeg_markers.h"
#include "ops/image/jpeg_scan.h"
#include "tests/support/environment.h"
#include "tests/support/expect_error.h"
#include "tests/support/pictures/encode_jpeg.h"
#include "tests/support/pictures/random_jpeg.h"
#include "tests/support/shared_data.h"

namespace penstock::image {
namespace {

using Bytes = std::vector<std::byte>;
using Random = std::minstd_rand;
using pictures::JpegColour;
using pictures::random_jpeg;
using pictures::random_window;
using pictures::RandomJpeg;

// libjpeg's pixels by its plain API, with nothing of penstock.
Tensor pixels_of_libjpeg(std::span<const std::byte> file) {
  static bench::FullDecode plain;
  if (!plain.decode(file)) throw std::runtime_error("libjpeg refuses the file");
  Tensor image(DType::u8,
               {static_cast<std::int64_t>(plain.height()), static_cast<std::int64_t>(plain.width()), channels});
  std::copy_n(plain.pixels(), image.bytes(), image.values<std::uint8_t>().data());
  return image;
}

constexpr DecodeOptions own{.decoder = Decoder::own};

Refusal refusal_of(std::span<const std::byte> file, const DecodeOptions& options = {}) {
  DecodeReport report;
  decode_jpeg(file, options, &report);
  EXPECT_EQ(report.own, report.refusal == Refusal::none);
  return report.refusal;
}

// libjpeg has no smooth colour where there are but two columns of it.
bool is_too_narrow(Refusal refusal, const Tensor& pixels) {
  return refusal == Refusal::sampling && pixels.shape()[1] <= 4;
}

Bytes stripes_file(Size size, const pictures::EncodeOptions& how = {}) {
  std::vector<std::uint8_t> pixels(
      static_cast<std::size_t>(size.height * size.width * pictures::bytes_per_pixel(how.colour)));
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 7 + i / 300 * 13);
  return pictures::encode_jpeg(pixels, size.height, size.width, how);
}

class OwnJpegOn : public ::testing::TestWithParam<Simd> {
 protected:
  DecodeOptions options() const { return {.decoder = Decoder::own, .simd = GetParam()}; }
};

TEST(OwnJpeg, TakesEveryGeneratedFileAndGivesThePixelsOfLibjpeg) {
  const std::int64_t files = test::how_many(2000);
  Random random(1);
  for (std::int64_t i = 0; i < files; ++i) {
    const RandomJpeg jpeg = random_jpeg(random, i % 10 == 0 ? Size{3000, 4000} : Size{500, 500});
    const Tensor expected = pixels_of_libjpeg(jpeg.file);
    DecodeReport report;
    ASSERT_EQ(decode_jpeg(jpeg.file, {}, &report), expected) << jpeg.text;
    ASSERT_TRUE(report.own || is_too_narrow(report.refusal, expected))
        << jpeg.text << ": " << to_string(report.refusal);
    ByteBuffer buffer;
    for (int k = 0; k < 3; ++k) {
      const Window window = random_window(random, {expected.shape()[0], expected.shape()[1]});
      const ImagePart part = decode_jpeg(jpeg.file, window, buffer, {}, &report);
      ASSERT_EQ(copy_of(part.pixels), copy_of(view_of(expected).window(window))) << jpeg.text;
      ASSERT_TRUE(report.own || is_too_narrow(report.refusal, expected)) << jpeg.text;
    }
  }
}

TEST(OwnJpeg, TakesEveryFileInScopeOfTheSharedData) {
  PENSTOCK_NEEDS_SHARED("data");
  std::map<std::string, int> refused;
  int taken = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::shared_folder() / "data")) {
    if (entry.path().extension() != ".JPEG" && entry.path().extension() != ".jpg") continue;
    const Tensor file = read_file(entry.path().string());
    DecodeReport report;
    ASSERT_EQ(decode_jpeg(bytes_of(file), {}, &report), pixels_of_libjpeg(bytes_of(file))) << entry.path();
    report.own ? ++taken : ++refused[std::string(to_string(report.refusal))];
  }
  for (const auto& [reason, count] : refused) {
    RecordProperty(reason, count);
    EXPECT_TRUE(reason == "process" || reason == "components") << reason;
  }
  EXPECT_GE(taken, 150);
}

TEST_P(OwnJpegOn, GivesThePixelsOfLibjpeg) {
  Random random(2);
  for (std::int64_t i = 0; i < test::how_many(200); ++i) {
    const RandomJpeg jpeg = random_jpeg(random, {300, 300});
    const Tensor expected = pixels_of_libjpeg(jpeg.file);
    if (expected.shape()[1] <= 4) continue;
    ASSERT_EQ(decode_jpeg(jpeg.file, options()), expected) << jpeg.text;
    const Window window = random_window(random, {expected.shape()[0], expected.shape()[1]});
    ASSERT_EQ(decode_jpeg(jpeg.file, window, options()), copy_of(view_of(expected).window(window))) << jpeg.text;
  }
}

// Every run of rows and of columns, across the borders of MCUs.
TEST(OwnJpeg, EveryWindowOfASmallPictureEqualsTheWholePicture) {
  for (const auto& [h, v] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}}) {
    const Bytes file = stripes_file({37, 41}, {.luma_h = h, .luma_v = v});
    const Tensor expected = pixels_of_libjpeg(file);
    for (std::int64_t begin = 0; begin < 37; ++begin)
      for (std::int64_t end = begin + 1; end <= 37; ++end) {
        const Window rows{begin, 3, end - begin, 30}, columns{2, begin, 30, end - begin};
        ASSERT_EQ(decode_jpeg(file, rows, own), copy_of(view_of(expected).window(rows)))
            << h << v << " " << begin << " " << end;
        ASSERT_EQ(decode_jpeg(file, columns, own), copy_of(view_of(expected).window(columns)))
            << h << v << " " << begin << " " << end;
      }
  }
}

// Bytes behind the picture are part of many files, and a thread lives long.
TEST(OwnJpeg, DoesNotKeepTheMemoryOfAVeryLargeFile) {
  const Bytes small = stripes_file({40, 50});
  Bytes large = small;
  large.resize(std::size_t{40} << 20);
  JpegHeaders headers;
  JpegScan scan;
  for (const Bytes* const file : std::initializer_list<const Bytes*>{&large, &small}) {
    ASSERT_EQ(read_headers(*file, headers), Refusal::none);
    ASSERT_EQ(scan.open(*file, headers, Simd::automatic), Refusal::none);
  }
  EXPECT_LT(scan.kept_bytes(), std::size_t{1} << 20);
}

TEST(OwnJpeg, LeavesToLibjpegWhatItDoesNotTake) {
  using pictures::EncodeOptions;
  const auto of = [](const EncodeOptions& how) { return refusal_of(stripes_file({40, 50}, how)); };
  EXPECT_EQ(of({}), Refusal::none);
  EXPECT_EQ(of({.progressive = true}), Refusal::process);
  EXPECT_EQ(of({.arithmetic = true}), Refusal::process);
  EXPECT_EQ(of({.colour = JpegColour::rgb}), Refusal::components);
  EXPECT_EQ(of({.colour = JpegColour::cmyk}), Refusal::components);
  EXPECT_EQ(of({.colour = JpegColour::ycck}), Refusal::components);
  EXPECT_EQ(of({.luma_h = 4}), Refusal::sampling);
  EXPECT_EQ(of({.chroma_h = 2}), Refusal::sampling);
  EXPECT_EQ(refusal_of(stripes_file({40, 4}, {.luma_h = 2, .luma_v = 2})), Refusal::sampling);
  EXPECT_EQ(refusal_of(stripes_file({40, 5}, {.luma_h = 2, .luma_v = 2})), Refusal::none);
}

TEST(OwnJpeg, LeavesOtherTransformsToLibjpeg) {
  const Bytes file = stripes_file({40, 50}, {.luma_h = 2});
  EXPECT_EQ(refusal_of(file, {.dct = Dct::ifast}), Refusal::options);
  EXPECT_EQ(refusal_of(file, {.fancy_upsampling = false}), Refusal::options);
}

TEST(OwnJpeg, IsNotAskedWhereLibjpegIsWanted) {
  DecodeReport report;
  decode_jpeg(stripes_file({40, 50}), {.decoder = Decoder::libjpeg}, &report);
  EXPECT_FALSE(report.own);
  EXPECT_EQ(report.refusal, Refusal::none);
}

TEST(OwnJpeg, AloneRefusesWithTheReason) {
  const Bytes file = stripes_file({40, 50}, {.progressive = true});
  DecodeOptions options = own;
  options.name = "a.JPEG";
  EXPECT_ERROR(decode_jpeg(file, options), ErrorCode::unimplemented,
               "cannot decode 'a.JPEG': penstock's own decoder does not take it (process)");
}

// The function may draw random numbers.
TEST(OwnJpeg, WindowIsChosenOnceEvenIfLibjpegTakesOver) {
  Bytes file = stripes_file({40, 50});
  file[file.size() - 30] = std::byte{0xff};  // a marker in the data
  file[file.size() - 29] = std::byte{0xd3};
  int asked = 0;
  ByteBuffer buffer;
  DecodeReport report;
  const auto choose = [&asked](Size) { return Window{++asked, 2, 3, 4}; };
  const ImagePart part = decode_jpeg(file, choose, buffer, {.truncated = Truncated::accept}, &report);
  EXPECT_EQ(report.refusal, Refusal::data);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(part.window, (Window{1, 2, 3, 4}));
}

TEST(OwnJpeg, TooManyPixelsAreRefusedAsEver) {
  EXPECT_ERROR(decode_jpeg(stripes_file({40, 50}), {.max_pixels = 1999}), ErrorCode::resource_exhausted,
               "the limit is 1999");
}

INSTANTIATE_TEST_SUITE_P(EveryInstructionSet, OwnJpegOn, ::testing::ValuesIn(supported_simd()),
                         [](const auto& simd) { return std::string(to_string(simd.param)); });

}  // namespace
}  // namespace penstock::image
