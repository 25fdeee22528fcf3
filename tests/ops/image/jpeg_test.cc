// JPEG files made here, one odd thing each. Real files are compared in golden_image_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/image/jpeg.h>

#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/expect_error.h"
#include "tests/support/pictures/encode_jpeg.h"

namespace penstock::image {
namespace {

using pictures::encode_jpeg;
using pictures::JpegColour;
using ::testing::HasSubstr;
using Bytes = std::vector<std::byte>;

constexpr std::int64_t kHeight = 61;
constexpr std::int64_t kWidth = 83;

// Soft colours with some noise, so that all kinds of coefficients occur.
std::vector<std::uint8_t> pixels_of(int bytes_per_pixel) {
  std::minstd_rand random(1);
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      for (int c = 0; c < bytes_per_pixel; ++c)
        pixels.push_back(static_cast<std::uint8_t>(40 + x + y * (c + 1) / 2 + static_cast<int>(random() >> 10) % 16));
  return pixels;
}

Bytes picture(const pictures::EncodeOptions& options = {}) {
  return encode_jpeg(pixels_of(pictures::bytes_per_pixel(options.colour)), kHeight, kWidth, options);
}

// Where the frame header's marker (SOF0 or SOF2) stands.
std::size_t frame_header(const Bytes& file) {
  std::size_t at = 2;
  while (file.at(at + 1) != std::byte{0xc0} && file.at(at + 1) != std::byte{0xc2})
    at += 2 + (std::to_integer<std::size_t>(file.at(at + 2)) << 8 | std::to_integer<std::size_t>(file.at(at + 3)));
  return at;
}

int largest_difference(const Tensor& a, const std::vector<std::uint8_t>& b) {
  const auto values = a.values<std::uint8_t>();
  EXPECT_EQ(values.size(), b.size());
  int most = 0;
  for (std::size_t i = 0; i < b.size(); ++i) most = std::max(most, std::abs(values[i] - b[i]));
  return most;
}

TEST(DecodeJpeg, PixelsComeBackNearly) {
  const Tensor image = decode_jpeg(picture({.quality = 100}));
  EXPECT_EQ(image.shape(), (Shape{kHeight, kWidth, 3}));
  EXPECT_EQ(image.dtype(), DType::u8);
  EXPECT_LE(largest_difference(image, pixels_of(3)), 4);
}

TEST(DecodeJpeg, HeaderTellsTheSize) {
  const JpegHeader header = read_jpeg_header(picture({.colour = JpegColour::grey}));
  EXPECT_EQ(header.width, kWidth);
  EXPECT_EQ(header.height, kHeight);
  EXPECT_EQ(header.components, 1);
  EXPECT_EQ(read_jpeg_header(picture({.colour = JpegColour::cmyk})).components, 4);
}

TEST(DecodeJpeg, BufferOfTheCallerIsUsedAgain) {
  ByteBuffer buffer;
  const Bytes file = picture();
  const ImageView first = decode_jpeg(file, buffer);
  EXPECT_EQ(copy_of(first), decode_jpeg(file));
  const ImageView second = decode_jpeg(file, buffer);
  EXPECT_EQ(first.pixels, second.pixels);
}

// The way of coding changes nothing about the coefficients.
TEST(DecodeJpeg, ProgressiveAndArithmeticFilesGiveThePixelsOfBaseline) {
  const Tensor baseline = decode_jpeg(picture());
  EXPECT_EQ(decode_jpeg(picture({.progressive = true})), baseline);
  EXPECT_EQ(decode_jpeg(picture({.arithmetic = true})), baseline);
  EXPECT_EQ(decode_jpeg(picture({.restart_rows = 1})), baseline);
}

TEST(DecodeJpeg, GreyGivesThreeEqualChannels) {
  const Tensor image = decode_jpeg(picture({.quality = 100, .colour = JpegColour::grey}));
  const auto values = image.values<std::uint8_t>();
  const std::vector<std::uint8_t> pixels = pixels_of(1);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    ASSERT_NEAR(values[3 * i], pixels[i], 2);
    ASSERT_EQ(values[3 * i], values[3 * i + 1]);
    ASSERT_EQ(values[3 * i], values[3 * i + 2]);
  }
}

TEST(DecodeJpeg, SubsampledColourIsDecodedInEveryShape) {
  for (const auto& [h, v] : {std::pair(2, 2), std::pair(2, 1), std::pair(1, 2), std::pair(4, 1)}) {
    const Bytes file = picture({.quality = 98, .luma_h = h, .luma_v = v});
    EXPECT_LE(largest_difference(decode_jpeg(file), pixels_of(3)), 40) << h << "x" << v;
  }
}

TEST(DecodeJpeg, OptionsChangePixelsWhereTheyShould) {
  const Bytes subsampled = picture({.luma_h = 2, .luma_v = 2});
  const Tensor usual = decode_jpeg(subsampled);
  EXPECT_FALSE(decode_jpeg(subsampled, {.dct = Dct::ifast}) == usual);
  EXPECT_FALSE(decode_jpeg(subsampled, {.fancy_upsampling = false}) == usual);
  const Bytes full = picture();
  EXPECT_EQ(decode_jpeg(full, {.fancy_upsampling = false}), decode_jpeg(full));
}

TEST(DecodeJpeg, OnePixelIsAPicture) {
  const std::vector<std::uint8_t> pixel{200, 100, 50};
  const Tensor image = decode_jpeg(encode_jpeg(pixel, 1, 1, {.quality = 100}));
  EXPECT_EQ(image.shape(), (Shape{1, 1, 3}));
  EXPECT_LE(largest_difference(image, pixel), 2);
}

struct Ink {
  int c, m, y, k;
};

// One block of one colour has only a first coefficient, which quality 100 keeps exactly.
Tensor decoded_ink(const Ink& ink, const pictures::EncodeOptions& options) {
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < 64; ++i)
    for (const int value : {ink.c, ink.m, ink.y, ink.k}) pixels.push_back(static_cast<std::uint8_t>(value));
  return decode_jpeg(encode_jpeg(pixels, 8, 8, options));
}

std::vector<int> first_pixel(const Tensor& image) {
  const auto values = image.values<std::uint8_t>();
  return {values[0], values[1], values[2]};
}

TEST(DecodeJpeg, CmykWithAdobesMarkerIsInvertedInk) {
  for (const Ink& ink : {Ink{255, 128, 1, 200}, Ink{17, 99, 254, 255}, Ink{3, 5, 7, 11}})
    EXPECT_EQ(first_pixel(decoded_ink(ink, {.quality = 100, .colour = JpegColour::cmyk})),
              (std::vector{ink.k * ink.c / 255, ink.k * ink.m / 255, ink.k * ink.y / 255}));
}

TEST(DecodeJpeg, CmykWithoutTheMarkerIsInk) {
  const auto rgb = [](const Ink& ink, int value) { return (255 - ink.k) * (255 - value) / 255; };
  for (const Ink& ink : {Ink{255, 128, 1, 200}, Ink{17, 99, 254, 0}, Ink{3, 5, 7, 11}})
    EXPECT_EQ(first_pixel(decoded_ink(ink, {.quality = 100, .colour = JpegColour::cmyk, .adobe_marker = false})),
              (std::vector{rgb(ink, ink.c), rgb(ink, ink.m), rgb(ink, ink.y)}));
}

TEST(DecodeJpeg, YcckIsConvertedToCmykFirst) {
  for (const int value : {0, 30, 128, 255}) {  // three equal inks have no colour difference to round
    const Ink ink{value, value, value, 180};
    const int expected = 180 * value / 255;
    EXPECT_EQ(first_pixel(decoded_ink(ink, {.quality = 100, .colour = JpegColour::ycck})),
              (std::vector{expected, expected, expected}));
  }
}

TEST(DecodeJpeg, TruncatedFilesAreRefusedWhereverTheyEnd) {
  for (const bool progressive : {false, true}) {
    const Bytes file = picture({.progressive = progressive});
    for (std::size_t part = 0; part < 20; ++part) {
      const std::size_t length = file.size() * part / 20;
      EXPECT_ERROR(decode_jpeg(std::span(file).first(length), {.name = "a.JPEG"}), ErrorCode::data_loss,
                   "cannot decode 'a.JPEG': ");
    }
    EXPECT_ERROR(decode_jpeg(std::span(file).first(file.size() - 2)), ErrorCode::data_loss, "truncated");
  }
}

TEST(DecodeJpeg, TruncatedFilesCanBeAccepted) {
  const Bytes file = picture();
  const Tensor all = decode_jpeg(file);
  DecodeReport report;
  const DecodeOptions accept{.truncated = Truncated::accept};
  const Tensor image = decode_jpeg(std::span(file).first(file.size() * 3 / 4), accept, &report);
  EXPECT_TRUE(report.truncated);
  EXPECT_GE(report.warnings, 1);
  EXPECT_THAT(report.first_warning, HasSubstr("Premature end"));
  EXPECT_EQ(image.shape(), all.shape());
  EXPECT_EQ(view_of(image).row(0)[5], view_of(all).row(0)[5]);
  EXPECT_FALSE(image == all);
  decode_jpeg(file, {.truncated = Truncated::accept, .decoder = Decoder::libjpeg}, &report);
  EXPECT_FALSE(report.truncated) << "another file, and the same decoder";
}

TEST(DecodeJpeg, CleanFilesReportNothing) {
  DecodeReport report{.warnings = 5, .truncated = true, .first_warning = "old"};
  decode_jpeg(picture(), {}, &report);
  EXPECT_EQ(report.warnings, 0);
  EXPECT_FALSE(report.truncated);
  EXPECT_EQ(report.first_warning, "");
}

TEST(DecodeJpeg, DamageOutsideThePixelsIsCountedAndAccepted) {
  Bytes file = picture();
  const Tensor image = decode_jpeg(file);
  const auto header = file.begin() + static_cast<std::ptrdiff_t>(frame_header(file));
  file.insert(header, 3, std::byte{0x11});
  DecodeReport report;
  EXPECT_EQ(decode_jpeg(file, {}, &report), image);
  EXPECT_EQ(report.warnings, 1);
  EXPECT_FALSE(report.truncated);
  EXPECT_THAT(report.first_warning, HasSubstr("3 extraneous bytes"));
}

// The file without the marker segments of one kind: 0xdb is quantisation tables, 0xc4 Huffman tables.
Bytes without_segments(Bytes file, int marker) {
  for (std::size_t at = 2; file.at(at + 1) != std::byte{0xda};) {
    const std::size_t length =
        2 + (std::to_integer<std::size_t>(file.at(at + 2)) << 8 | std::to_integer<std::size_t>(file.at(at + 3)));
    const auto segment = file.begin() + static_cast<std::ptrdiff_t>(at);
    if (file.at(at + 1) == std::byte(marker)) {
      file.erase(segment, segment + static_cast<std::ptrdiff_t>(length));
    } else {
      at += length;
    }
  }
  return file;
}

// As a thread does that has decoded nothing before.
std::string decoded_afresh(const Bytes& file) {
  std::string result;
  std::thread([&] {
    try {
      const Tensor image = decode_jpeg(file);
      result.assign(reinterpret_cast<const char*>(image.data()), image.bytes());
    } catch (const Error& error) {
      result = error.what();
    }
  }).join();
  return result;
}

// Found by fuzzing: libjpeg keeps tables from one file to the next on purpose (for abbreviated streams).
TEST(DecodeJpeg, FileWithoutTablesDoesNotBorrowThoseOfTheFileBefore) {
  const Bytes whole = picture({.quality = 30});
  EXPECT_THAT(decoded_afresh(without_segments(whole, 0xdb)), HasSubstr("cannot decode"));
  for (const int marker : {0xdb, 0xc4}) {
    const Bytes damaged = without_segments(whole, marker);
    const std::string afresh = decoded_afresh(damaged);
    decode_jpeg(whole);
    std::string now;
    try {
      const Tensor image = decode_jpeg(damaged);
      now.assign(reinterpret_cast<const char*>(image.data()), image.bytes());
    } catch (const Error& error) {
      now = error.what();
    }
    EXPECT_TRUE(now == afresh) << std::hex << marker;
  }
}

TEST(DecodeJpeg, LostPartOfAScanCountsAsTruncated) {
  Bytes file = picture({.restart_rows = 1});
  std::size_t at = frame_header(file);
  while (file[at] != std::byte{0xff} || file[at + 1] != std::byte{0xd0}) ++at;
  file[at + 1] = std::byte{0xd1};  // as if the second stretch were missing
  EXPECT_ERROR(decode_jpeg(file), ErrorCode::data_loss, "truncated");
  DecodeReport report;
  EXPECT_EQ(decode_jpeg(file, {.truncated = Truncated::accept}, &report).shape(), (Shape{kHeight, kWidth, 3}));
  EXPECT_TRUE(report.truncated);
}

TEST(DecodeJpeg, BytesBehindThePictureDoNoHarm) {
  Bytes file = picture();
  const Tensor image = decode_jpeg(file);
  file.resize(file.size() + 1000, std::byte{0x55});
  EXPECT_EQ(decode_jpeg(file), image);
}

Bytes bytes_of_text(const std::string& text) {
  Bytes bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

TEST(DecodeJpeg, OtherFormatsAreNamed) {
  const auto refused = [](const std::string& start, const char* format) {
    EXPECT_ERROR(decode_jpeg(bytes_of_text(start + std::string(100, 'x')), {.name = "n.JPEG"}),
                 ErrorCode::invalid_argument, std::string("'n.JPEG': this is a ") + format);
  };
  refused("\x89PNG\r\n\x1a\n", "PNG");
  refused("GIF89a", "GIF");
  refused("BM", "BMP");
  refused("RIFFabcdWEBPVP8 ", "WebP");
  refused(std::string("II*\0", 4), "TIFF");
}

TEST(DecodeJpeg, FilesThatAreNothingAreRefused) {
  EXPECT_ERROR(decode_jpeg({}), ErrorCode::data_loss, "a JPEG: the file is empty");
  EXPECT_ERROR(decode_jpeg(bytes_of_text("<html>")), ErrorCode::data_loss, "3c 68 instead of ff d8");
  EXPECT_ERROR(decode_jpeg(bytes_of_text("\xff")), ErrorCode::data_loss, "not a JPEG");
  EXPECT_ERROR(decode_jpeg(bytes_of_text("\xff\xd8")), ErrorCode::data_loss, "truncated");
  EXPECT_ERROR(decode_jpeg(bytes_of_text("\xff\xd8\xff\xd9")), ErrorCode::data_loss, "no image");
}

TEST(DecodeJpeg, HugeHeaderIsRefusedBeforeMemoryIsTaken) {
  for (const bool progressive : {false, true}) {
    Bytes file = picture({.progressive = progressive});
    const std::size_t at = frame_header(file);
    for (const std::size_t i : {5U, 7U}) {  // 65500 x 65500
      file[at + i] = std::byte{0xff};
      file[at + i + 1] = std::byte{0xdc};
    }
    EXPECT_ERROR(decode_jpeg(file), ErrorCode::resource_exhausted, "65500 x 65500 pixels");
    EXPECT_ERROR(read_jpeg_header(file), ErrorCode::resource_exhausted, "max_pixels");
  }
}

TEST(DecodeJpeg, LimitOfPixelsIsTheLargestAllowed) {
  const Bytes file = picture();
  EXPECT_NO_THROW(decode_jpeg(file, {.max_pixels = kHeight * kWidth}));
  EXPECT_ERROR(decode_jpeg(file, {.max_pixels = kHeight * kWidth - 1}), ErrorCode::resource_exhausted,
               "the limit is 5062");
}

TEST(DecodeJpeg, TwelveBitsAndLosslessAreRefused) {
  Bytes twelve = picture();
  twelve[frame_header(twelve) + 4] = std::byte{12};
  EXPECT_ERROR(decode_jpeg(twelve), ErrorCode::unimplemented, "12");
  Bytes lossless = picture();
  lossless[frame_header(lossless) + 1] = std::byte{0xc3};
  EXPECT_ERROR(decode_jpeg(lossless), ErrorCode::unimplemented, "cannot decode");
}

// A few kilobytes can ask for thousands of passes over the picture.
TEST(DecodeJpeg, ThousandsOfScansAreRefused) {
  const Bytes file = picture({.progressive = true});
  const auto is_marker = [&file](std::size_t i, int code) {
    return file[i] == std::byte{0xff} && file[i + 1] == static_cast<std::byte>(code);
  };
  std::size_t scan = 0;
  while (!is_marker(scan, 0xda)) ++scan;
  std::size_t end = scan + 2;
  while (!is_marker(end, 0xc4) && !is_marker(end, 0xda)) ++end;
  const auto at = [&file](std::size_t i) { return file.begin() + static_cast<std::ptrdiff_t>(i); };
  Bytes bomb(file.begin(), at(end));
  for (int i = 0; i < 600; ++i) bomb.insert(bomb.end(), at(scan), at(end));
  bomb.insert(bomb.end(), at(end), file.end());
  EXPECT_ERROR(decode_jpeg(bomb), ErrorCode::resource_exhausted, "more than 500 scans");
}

// Any bytes end in a picture or in an Error, and the next good file is decoded as ever.
TEST(DecodeJpeg, DamagedBytesNeverDoMoreThanFail) {
  std::minstd_rand random(3);
  const DecodeOptions accept{.truncated = Truncated::accept, .max_pixels = 1 << 20};
  for (const bool progressive : {false, true}) {
    const Bytes good = picture({.progressive = progressive});
    const Tensor image = decode_jpeg(good);
    for (int round = 0; round < 1000; ++round) {
      Bytes bad = good;
      for (int i = 0; i < 3; ++i) bad[random() % bad.size()] = static_cast<std::byte>(random() >> 8);
      try {
        decode_jpeg(bad, accept);
      } catch (const Error&) {
      }
    }
    EXPECT_EQ(decode_jpeg(good), image);
  }
}

TEST(DecodeJpeg, ThreadsDoNotDisturbEachOther) {
  const Bytes good = picture();
  const Bytes bad(good.begin(), good.begin() + 700);
  const Tensor image = decode_jpeg(good);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 30; ++round) {
        EXPECT_EQ(decode_jpeg(good), image);
        EXPECT_THROW(decode_jpeg(bad), Error);
      }
    });
}

}  // namespace
}  // namespace penstock::image
