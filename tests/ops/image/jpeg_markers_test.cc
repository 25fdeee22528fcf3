// Headers: what our own decoder takes libjpeg takes as well, without a warning, and reads the same.
#include "ops/image/jpeg_markers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/ops/image/libjpeg_oracle.h"
#include "tests/ops/image/scan_writer.h"
#include "tests/support/file_contents.h"
#include "tests/support/guarded_memory.h"
#include "tests/support/shared_data.h"

namespace penstock::image {
namespace {

using testing::as_file;
using testing::disagreement_on_headers;
using testing::drawn;
using testing::GuardedMemory;
using testing::header_bytes;
using Octets = std::vector<std::uint8_t>;

Refusal refusal_of(const Octets& file) {
  JpegHeaders headers;
  return read_headers(as_file(file), headers);
}

HuffmanCode small_code() {
  HuffmanCode code{.is_there = true};
  code.counts[2] = 3;
  code.symbols = {0, 1, 2};
  return code;
}

JpegHeaders small_headers(int components, int across, int down) {
  JpegHeaders headers{};
  headers.width = 40;
  headers.height = 30;
  headers.components = components;
  for (std::size_t i = 0; i < 3; ++i) headers.component[i].id = static_cast<std::uint8_t>(i + 1);
  headers.component[0].across = across;
  headers.component[0].down = down;
  headers.quantisers[0].fill(3);
  headers.dc[0] = headers.ac[0] = small_code();
  headers.restart_interval = 5;
  return headers;
}

const Octets kJfif{0xff, 0xe0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0};
const Octets kRgbJfxx{0xff, 0xe0, 0, 8, 'J', 'F', 'X', 'X', 0, 0x13};

Octets adobe(std::uint8_t transform) {
  return {0xff, 0xee, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, transform};
}

Octets inserted(Octets file, std::size_t at, const Octets& segment) {
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), segment.begin(), segment.end());
  return file;
}

Octets file_of(const JpegHeaders& headers, const Octets& segment = {}) {
  return inserted(header_bytes(headers), 2, segment);
}

Octets small_file(const Octets& segment = {}) { return file_of(small_headers(3, 2, 2), segment); }

// Where a marker stands, which occurs once.
std::size_t place_of(const Octets& file, int marker) {
  for (std::size_t i = 0; i + 1 < file.size(); ++i)
    if (file[i] == 0xff && file[i + 1] == marker) return i;
  throw std::runtime_error("no such marker");
}

Octets changed(Octets file, std::size_t at, int value) {
  file.at(at) = static_cast<std::uint8_t>(value);
  return file;
}

// Taken, and then as libjpeg reads it, or not taken.
::testing::AssertionResult agrees(const Octets& file, int* taken = nullptr) {
  JpegHeaders headers;
  if (read_headers(as_file(file), headers) != Refusal::none) return ::testing::AssertionSuccess();
  if (taken != nullptr) ++*taken;
  const std::string found = disagreement_on_headers(as_file(file), headers);
  return found.empty() ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << "libjpeg: " << found;
}

std::vector<Octets> small_files() {
  return {small_file(kJfif), file_of(small_headers(3, 1, 1), adobe(1)), file_of(small_headers(3, 2, 1)),
          file_of(small_headers(3, 1, 2)), file_of(small_headers(1, 2, 2), {0xff, 0xfe, 0, 5, 1, 2, 3})};
}

TEST(JpegHeaders, AreReadAsLibjpegReadsThem) {
  for (const Octets& file : small_files()) {
    EXPECT_EQ(refusal_of(file), Refusal::none);
    EXPECT_TRUE(agrees(file));
  }
}

TEST(JpegHeaders, OfAllRealFilesAreTakenAndReadAsLibjpegReadsThem) {
  PENSTOCK_NEEDS_SHARED("data");
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::shared_folder() / "data")) {
    const std::string name = entry.path().extension().string();
    if (name != ".JPEG" && name != ".jpg") continue;
    const std::string contents = test::file_contents(entry.path());
    int taken = 0;
    EXPECT_TRUE(agrees(Octets(contents.begin(), contents.end()), &taken)) << entry.path();
    EXPECT_EQ(taken, 1) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 200);
}

TEST(JpegHeaders, CutOffAnywhereAreRefusedAndReadNoFurther) {
  for (const Octets& file : small_files())
    for (std::size_t size = 0; size < file.size(); ++size) {
      const GuardedMemory<std::byte> memory(size);
      std::copy_n(as_file(file).begin(), size, memory.data());
      JpegHeaders headers;
      ASSERT_NE(read_headers(memory.values(), headers), Refusal::none) << size;
    }
}

TEST(JpegHeaders, WithAnyByteChangedAreRefusedOrAsLibjpegReadsThem) {
  int taken = 0;
  for (const Octets& file : small_files())
    for (std::size_t at = 0; at < file.size(); ++at)
      for (int value = 0; value < 256; ++value)
        ASSERT_TRUE(agrees(changed(file, at, value), &taken)) << "byte " << at << " = " << value;
  EXPECT_GT(taken, 10000);
}

TEST(JpegHeaders, WithSeveralBytesChangedInsertedOrLeftOutAreRefusedOrAsLibjpegReadsThem) {
  std::minstd_rand random(1);
  const std::vector<Octets> files = small_files();
  int taken = 0;
  for (int i = 0; i < 40000; ++i) {
    Octets file = files[drawn(random, files.size())];
    for (unsigned changes = 1 + drawn(random, 3); changes > 0; --changes) {
      const std::size_t at = 2 + drawn(random, file.size() - 2);
      const auto kind = drawn(random, 4);
      if (kind == 0) file.erase(file.begin() + static_cast<std::ptrdiff_t>(at));
      if (kind == 1) file = inserted(file, at, {static_cast<std::uint8_t>(drawn(random, 256))});
      if (kind == 2) file[at] = static_cast<std::uint8_t>(drawn(random, 256));
      if (kind == 3) file[at] = static_cast<std::uint8_t>(drawn(random, 4));
    }
    ASSERT_TRUE(agrees(file, &taken)) << i;
  }
  EXPECT_GT(taken, 1000);
}

TEST(JpegHeaders, HaveAnyNumberOfFillBytesBeforeMarkers) {
  const Octets file = small_file();
  for (const int marker : {0xdb, 0xc1, 0xdd, 0xda}) {
    const Octets filled = inserted(file, place_of(file, marker), {0xff, 0xff, 0xff});
    EXPECT_EQ(refusal_of(filled), Refusal::none);
    EXPECT_TRUE(agrees(filled));
  }
  EXPECT_EQ(refusal_of(inserted(file, 2, {0})), Refusal::marker);
  EXPECT_EQ(refusal_of(inserted(file, 2, {0xff, 0})), Refusal::marker);
  EXPECT_EQ(refusal_of(inserted(file, 0, {0xff})), Refusal::marker);
}

TEST(JpegHeaders, TellTheColourAsLibjpegGuessesIt) {
  const auto with_ids = [](std::uint8_t a, std::uint8_t b, std::uint8_t c, const Octets& segment) {
    JpegHeaders headers = small_headers(3, 2, 2);
    headers.component[0].id = a;
    headers.component[1].id = b;
    headers.component[2].id = c;
    return file_of(headers, segment);
  };
  const auto taken = Refusal::none, refused = Refusal::components;
  EXPECT_EQ(refusal_of(small_file(adobe(0))), refused);
  EXPECT_EQ(refusal_of(small_file(adobe(1))), taken);
  EXPECT_EQ(refusal_of(small_file(adobe(2))), refused);
  EXPECT_EQ(refusal_of(inserted(small_file(adobe(0)), 2, kJfif)), taken);
  EXPECT_EQ(refusal_of(inserted(small_file(adobe(1)), 2, adobe(0))), taken) << "the last one counts";
  EXPECT_EQ(refusal_of(with_ids(0, 1, 2, {})), taken);
  EXPECT_EQ(refusal_of(with_ids('R', 'G', 'B', {})), refused);
  EXPECT_EQ(refusal_of(with_ids('R', 'G', 'B', kJfif)), taken);
  EXPECT_EQ(refusal_of(with_ids('R', 'G', 'B', kRgbJfxx)), refused);
  EXPECT_EQ(refusal_of(with_ids(1, 2, 2, kJfif)), refused) << "ids twice";
}

TEST(JpegHeaders, AreRefusedForTheReasonThatTheyHave) {
  const Octets file = small_file(kJfif);
  const std::size_t frame = place_of(file, 0xc1), scan = place_of(file, 0xda), steps = place_of(file, 0xdb);
  const std::size_t code = place_of(file, 0xc4), interval = place_of(file, 0xdd);
  for (const int process : {0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf})
    EXPECT_EQ(refusal_of(changed(file, frame + 1, process)), Refusal::process) << process;
  EXPECT_EQ(refusal_of(changed(file, frame + 4, 12)), Refusal::process) << "12 bits";
  EXPECT_EQ(refusal_of(changed(file, frame + 9, 4)), Refusal::components);
  EXPECT_EQ(refusal_of(changed(file, frame + 9, 1)), Refusal::marker) << "length of the frame header";
  EXPECT_EQ(refusal_of(changed(changed(file, frame + 5, 0), frame + 6, 0)), Refusal::marker) << "height 0";
  EXPECT_EQ(refusal_of(changed(changed(file, frame + 7, 0xff), frame + 8, 0xff)), Refusal::marker) << "width 65535";
  for (const int factors : {0x41, 0x14, 0x12 + 0x20, 0x44, 0x10, 0x01, 0x23})
    EXPECT_EQ(refusal_of(changed(file, frame + 11, factors)), Refusal::sampling) << factors;
  EXPECT_EQ(refusal_of(changed(file, frame + 14, 0x21)), Refusal::sampling) << "chroma";
  EXPECT_EQ(refusal_of(changed(file, scan + 4, 1)), Refusal::scans);
  EXPECT_EQ(refusal_of(changed(file, scan + 5, 2)), Refusal::scans) << "another order";
  EXPECT_EQ(refusal_of(changed(file, scan + 6, 0x10)), Refusal::tables) << "DC code 1 is not there";
  EXPECT_EQ(refusal_of(changed(file, scan + 12, 62)), Refusal::marker) << "Se";
  EXPECT_EQ(refusal_of(changed(file, frame + 12, 1)), Refusal::tables) << "quantiser 1 is not there";
  EXPECT_EQ(refusal_of(changed(file, steps + 4, 0x14)), Refusal::tables) << "quantiser 4";
  EXPECT_EQ(refusal_of(changed(file, steps + 6, 0)), Refusal::tables) << "a step of 0";
  EXPECT_EQ(refusal_of(changed(file, steps + 5, 0x80)), Refusal::tables) << "a step above 32767";
  EXPECT_EQ(refusal_of(changed(file, code + 6, 4)), Refusal::tables) << "more symbols than there are";
  EXPECT_EQ(refusal_of(changed(file, code + 21, 16)), Refusal::tables) << "a DC symbol above 15";
  EXPECT_EQ(refusal_of(changed(file, interval + 3, 5)), Refusal::marker);
  EXPECT_EQ(refusal_of(changed(file, 2 + 9, 2)), Refusal::marker) << "JFIF 2";
  for (const int marker : {0x01, 0x02, 0xd0, 0xd8, 0xd9, 0xdc, 0xde, 0xdf, 0xf0, 0xfd})
    EXPECT_EQ(refusal_of(changed(file, 3, marker)), Refusal::marker) << marker;
  EXPECT_EQ(refusal_of(inserted(file, interval,
                                Octets(file.begin() + static_cast<std::ptrdiff_t>(frame),
                                       file.begin() + static_cast<std::ptrdiff_t>(frame) + 19))),
            Refusal::marker)
      << "a second frame";
}

// libjpeg repeats samples instead of smoothing them there, but not where rows alone are halved.
TEST(JpegHeaders, OfPicturesTooNarrowForSmoothColourAreRefused) {
  for (int width = 1; width < 8; ++width)
    for (const int down : {1, 2}) {
      JpegHeaders headers = small_headers(3, 2, down);
      headers.width = width;
      EXPECT_EQ(refusal_of(file_of(headers)), width <= 4 ? Refusal::sampling : Refusal::none) << width;
      headers.component[0].across = 1;
      EXPECT_EQ(refusal_of(file_of(headers)), Refusal::none);
    }
}

TEST(Refusal, HasANameOfItsOwn) {
  EXPECT_EQ(to_string(Refusal::none), "none");
  EXPECT_EQ(to_string(Refusal::coefficients), "coefficients");
}

}  // namespace
}  // namespace penstock::image
