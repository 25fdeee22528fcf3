// Damaged files: whatever our own decoder makes of them, the result is libjpeg-turbo's, in pixels, warnings and error
// texts.
//
//   image_test                     1,000 damaged files
//   PENSTOCK_FULL=1 image_test     10,000
#include <gtest/gtest.h>
#include <penstock/image/jpeg.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "tests/support/environment.h"
#include "tests/support/pictures/random_jpeg.h"
#include "tests/support/shared_data.h"

namespace penstock::image {
namespace {

using Bytes = std::vector<std::byte>;
using Random = std::minstd_rand;
using pictures::draw;
using pictures::random_jpeg;

// All that a caller can see.
struct Outcome {
  Tensor pixels;
  std::string error;
  std::int64_t warnings = 0;
  bool truncated = false;
  std::string first_warning;
  bool own = false;  // which no caller needs to know

  friend bool operator==(const Outcome& a, const Outcome& b) {
    return a.pixels == b.pixels && a.error == b.error && a.warnings == b.warnings && a.truncated == b.truncated &&
           a.first_warning == b.first_warning;
  }
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << to_string(outcome.pixels.shape()) << ", " << outcome.warnings << " warnings (" << outcome.first_warning
             << "), truncated " << outcome.truncated << ", error '" << outcome.error << "'";
}

Outcome outcome_of(std::span<const std::byte> file, DecodeOptions options, Decoder decoder,
                   const ChooseWindow& choose) {
  options.decoder = decoder;
  Outcome outcome;
  DecodeReport report;
  ByteBuffer buffer;
  try {
    outcome.pixels = copy_of(decode_jpeg(file, choose, buffer, options, &report).pixels);
  } catch (const Error& error) {
    outcome.error = error.what();
  }
  outcome.warnings = report.warnings;
  outcome.truncated = report.truncated;
  outcome.first_warning = report.first_warning;
  outcome.own = report.own;
  return outcome;
}

// How many outcomes were the own decoder's: the tests below say nothing where there are none.
int taken_by_own = 0;

void expect_same(std::span<const std::byte> file, const ChooseWindow& choose, const std::string& what) {
  for (const Truncated truncated : {Truncated::reject, Truncated::accept}) {
    const DecodeOptions options{.truncated = truncated, .max_pixels = 1 << 24};
    const Outcome expected = outcome_of(file, options, Decoder::libjpeg, choose);
    const Outcome found = outcome_of(file, options, Decoder::automatic, choose);
    ASSERT_EQ(found, expected) << what;
    taken_by_own += found.own ? 1 : 0;
  }
}

Window whole_of(Size image) { return {0, 0, image.height, image.width}; }

// Half of the pictures wholly, half a window of them.
void expect_same_anywhere(std::span<const std::byte> file, Random& random, const std::string& what) {
  if (draw(random, 0, 1) == 0) return expect_same(file, whole_of, what);
  const auto seed = static_cast<unsigned>(random());
  expect_same(
      file,
      [seed](Size image) {
        Random fresh(seed);
        return pictures::random_window(fresh, image);
      },
      what);
}

std::vector<Bytes> good_files(std::size_t count) {
  std::vector<std::string> paths;
  const auto folder = test::shared_folder() / "data";
  if (std::filesystem::exists(folder))
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".JPEG" || entry.path().extension() == ".jpg")
        paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  Random random(11);
  std::shuffle(paths.begin(), paths.end(), random);
  std::vector<Bytes> files;
  for (std::size_t i = 0; i < std::min(count / 2, paths.size()); ++i) {
    const Tensor file = read_file(paths[i]);
    files.emplace_back(bytes_of(file).begin(), bytes_of(file).end());
  }
  while (files.size() < count) files.push_back(random_jpeg(random, {200, 200}).file);
  return files;
}

TEST(OwnJpegDamage, OneByteChangedGivesWhatLibjpegGives) {
  taken_by_own = 0;
  const auto count = static_cast<std::size_t>(test::how_many(20));
  Random random(1);
  std::size_t number = 0;
  for (const Bytes& good : good_files(count)) {
    ++number;
    for (int i = 0; i < 50; ++i) {
      Bytes bad = good;
      const auto at = static_cast<std::size_t>(draw(random, 0, static_cast<std::int64_t>(bad.size()) - 1));
      bad[at] = static_cast<std::byte>(draw(random, 0, 255));
      ASSERT_NO_FATAL_FAILURE(
          expect_same_anywhere(bad, random, "file " + std::to_string(number) + ", byte " + std::to_string(at)));
    }
  }
  EXPECT_GT(taken_by_own, 0);
}

// libjpeg decodes two rows of blocks at once where a grey file says so, and sees what is wrong in the second.
TEST(OwnJpegDamage, RowsThatLibjpegDecodesTogetherAreLookedAt) {
  std::vector<std::uint8_t> pixels(64 * 64);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * i / 7);
  for (const int rows : {1, 2, 3, 4}) {
    const Bytes good =
        pictures::encode_jpeg(pixels, 64, 64, {.colour = pictures::JpegColour::grey, .luma_h = 2, .luma_v = rows});
    for (std::size_t length = good.size() / 4; length < good.size(); length += 7) {
      Bytes bad(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
      bad.insert(bad.end(), {std::byte{0xff}, std::byte{0xd9}});
      for (const std::int64_t y : {0, 7, 8, 20, 40})
        ASSERT_NO_FATAL_FAILURE(expect_same(
            bad,
            [y](Size) {
              return Window{y, 3, 4, 9};
            },
            std::to_string(length)));
    }
  }
}

// Headers hold most of the decisions, and are a small part of a large file.
TEST(OwnJpegDamage, AByteOfTheHeadersChangedGivesWhatLibjpegGives) {
  taken_by_own = 0;
  Random random(2);
  for (std::int64_t i = 0; i < test::how_many(1000); ++i) {
    Bytes bad = random_jpeg(random, {40, 40}).file;
    const auto most = std::min<std::int64_t>(static_cast<std::int64_t>(bad.size()), 640);
    for (std::int64_t changes = draw(random, 1, 2); changes > 0; --changes)
      bad[static_cast<std::size_t>(draw(random, 0, most - 1))] = static_cast<std::byte>(draw(random, 0, 255));
    ASSERT_NO_FATAL_FAILURE(expect_same_anywhere(bad, random, "round " + std::to_string(i)));
  }
  EXPECT_GT(taken_by_own, 0);
}

TEST(OwnJpegDamage, TruncationAtEveryLengthGivesWhatLibjpegGives) {
  Random random(3);
  for (std::int64_t i = 0; i < (test::is_on("PENSTOCK_FULL") ? 20 : 3); ++i) {
    const Bytes good = random_jpeg(random, {40, 40}).file;
    for (std::size_t length = 0; length < good.size(); ++length)
      ASSERT_NO_FATAL_FAILURE(
          expect_same_anywhere(std::span(good).first(length), random, "length " + std::to_string(length)));
  }
}

// Markers where there was data, fill bytes before markers, and data moved.
TEST(OwnJpegDamage, MarkersPutInAtRandomGiveWhatLibjpegGives) {
  taken_by_own = 0;
  Random random(4);
  for (std::int64_t i = 0; i < test::how_many(1000); ++i) {
    Bytes bad = random_jpeg(random, {60, 60}).file;
    const auto at = static_cast<std::ptrdiff_t>(draw(random, 2, static_cast<std::int64_t>(bad.size()) - 1));
    const Bytes marker{std::byte{0xff}, static_cast<std::byte>(draw(random, 0, 3) == 0 ? draw(random, 0, 255)
                                                                                       : draw(random, 0xd0, 0xd9))};
    bad.insert(bad.begin() + at, marker.begin(), marker.begin() + draw(random, 1, 2));
    ASSERT_NO_FATAL_FAILURE(expect_same_anywhere(bad, random, "round " + std::to_string(i)));
  }
  EXPECT_GT(taken_by_own, 0);
}

Bytes striped(const pictures::EncodeOptions& how) {
  std::vector<std::uint8_t> pixels(48 * 48 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 5 + i / 144 * 31);
  return pictures::encode_jpeg(pixels, 48, 48, how);
}

TEST(OwnJpegDamage, RestartMarkersOutOfOrderGiveWhatLibjpegGives) {
  taken_by_own = 0;
  const Bytes good = striped({.restart_mcus = 4});
  int markers = 0;
  for (std::size_t at = 0; at + 1 < good.size(); ++at) {
    if (good[at] != std::byte{0xff} || (good[at + 1] & std::byte{0xf8}) != std::byte{0xd0}) continue;
    ++markers;
    for (const unsigned number : {1U, 2U, 7U}) {
      Bytes bad = good;
      bad[at + 1] ^= std::byte(number);
      ASSERT_NO_FATAL_FAILURE(expect_same(bad, whole_of, std::to_string(at)));
    }
  }
  EXPECT_GE(markers, 8);
  EXPECT_EQ(taken_by_own, 0);
}

TEST(OwnJpegDamage, DataBehindTheLastMcuGivesWhatLibjpegGives) {
  const Bytes good = striped({});
  for (const std::size_t more : {0U, 1U, 2U, 40U}) {
    taken_by_own = 0;
    Bytes bad = good;
    bad.insert(bad.end() - 2, more, std::byte{0x5a});
    ASSERT_NO_FATAL_FAILURE(expect_same(bad, whole_of, std::to_string(more)));
    EXPECT_EQ(taken_by_own, more == 0 ? 2 : 0) << more;
  }
}

// Quantiser steps that make coefficients far larger than any picture has: libjpeg-turbo's own versions differ there.
void multiply_steps(Bytes& file, int factor) {
  for (std::size_t at = 2; at + 4 < file.size() && file[at] == std::byte{0xff} && file[at + 1] != std::byte{0xda};) {
    const std::size_t length =
        std::to_integer<std::size_t>(file[at + 2]) << 8 | std::to_integer<std::size_t>(file[at + 3]);
    if (file[at + 1] == std::byte{0xdb})
      for (std::size_t i = at + 5; i < at + 2 + length; ++i)
        if ((i - at - 4) % 65 != 0)
          file[i] = static_cast<std::byte>(std::min(255, factor * std::to_integer<int>(file[i])));
    at += 2 + length;
  }
}

TEST(OwnJpegDamage, LargerQuantiserStepsGiveWhatLibjpegGives) {
  for (const int factor : {8, 255}) {
    int number = 0;
    for (Bytes file : good_files(static_cast<std::size_t>(test::how_many(30)))) {
      multiply_steps(file, factor);
      ASSERT_NO_FATAL_FAILURE(
          expect_same(file, whole_of, "file " + std::to_string(++number) + ", steps x " + std::to_string(factor)));
    }
  }
}

}  // namespace
}  // namespace penstock::image
