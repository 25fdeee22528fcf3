// Files that gzip has packed, as lines() reads them.
#include "ops/unpacked_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/penstock.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/expect_error.h"
#include "tests/support/fake_file_system.h"
#include "tests/support/plain_lines.h"
#include "tests/support/random.h"
#include "tests/support/temporary_folder.h"

namespace penstock {
namespace {

using test::FakeFileSystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What gzip(1) makes of a file "w.txt" with the text "one\ntwo\n".
const std::string kOfGzip(
    "\x1f\x8b\x08\x08\xa4\xe6\x0bk\0\x03w.txt\0\xcb\xcfK\xe5*)\xcf\xe7\x02\0\xe6\x0b\xba\x12\x08\0\0\0", 34);

std::string packed(const std::string& text) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::vector<char> out(deflateBound(&stream, text.size()) + 32);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::logic_error("not packed");
  return {out.data(), out.size() - stream.avail_out};
}

struct Unpacked {
  std::string text;
  int error = 0;  // behind it
};

Unpacked read(io::File& file, std::size_t at_once) {
  Unpacked unpacked;
  std::vector<char> part(at_once);
  for (;;) {
    const auto [count, error] = file.read(std::as_writable_bytes(std::span(part)));
    if (error == EINTR) continue;
    if (error != 0 || count == 0) return {std::move(unpacked.text), error};
    unpacked.text.append(part.data(), count);
  }
}

Unpacked unpack(const std::string& bytes, std::size_t at_once = 4096, test::Faults faults = {}) {
  const auto files = std::make_shared<FakeFileSystem>();
  files->add("/d/f", bytes);
  files->fail("/d/f", std::move(faults));
  const auto opened = ops::unpacked(files)->open("/d/f");
  if (opened.error != 0) throw std::runtime_error("not open");
  return read(*opened.value, at_once);
}

std::string long_text() {
  std::string text;
  for (int i = 0; text.size() < 500'000; ++i) text += "line " + std::to_string(i * i) + "\n";
  return text;
}

TEST(UnpackedFiles, AreWhatGzipHasPacked) {
  EXPECT_EQ(unpack(kOfGzip).text, "one\ntwo\n");
  for (const std::string& text : {std::string(), std::string("x"), long_text()}) {
    for (const std::size_t at_once : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20}) {
      const Unpacked got = unpack(packed(text), at_once);
      EXPECT_TRUE(got.text == text) << text.size();
      EXPECT_EQ(got.error, 0);
    }
  }
}

TEST(UnpackedFiles, AreReadAsTheyAreWhereNothingIsPacked) {
  for (const std::string& text : {std::string(), std::string("\x1f"), std::string("\x1f\x8c text"), long_text()})
    EXPECT_TRUE(unpack(text).text == text);
}

TEST(UnpackedFiles, MayHaveSeveralPartsAndZerosBehind) {
  const std::string two = packed("first\n") + packed("second\n");
  EXPECT_EQ(unpack(two).text, "first\nsecond\n");
  EXPECT_EQ(unpack(two + std::string(100'000, '\0')).text, "first\nsecond\n");
  EXPECT_EQ(unpack(packed("first\n") + std::string(700, '\0') + packed("second\n")).text, "first\nsecond\n");
  EXPECT_EQ(unpack(packed("") + packed("") + packed("x")).text, "x");
}

TEST(UnpackedFiles, AreReadThroughInterruptionsAndShortReads) {
  const std::string text = long_text();
  EXPECT_TRUE(unpack(packed(text), 777, {.at_once = 3}).text == text);
  EXPECT_TRUE(unpack(packed(text), 777, {.read = EINTR, .times = 3}).text == text);
}

TEST(UnpackedFiles, FailWhereTheDiskFails) {
  const std::string bytes = packed(long_text());
  EXPECT_EQ(unpack(bytes, 4096, {.read = EIO, .after = bytes.size() / 2}).error, EIO);
}

TEST(UnpackedFiles, AreDamagedWhereTheyAreCutShort) {
  const std::string text = "some text, and some text again\n", bytes = packed(text) + packed(text);
  const std::size_t first = packed(text).size();
  for (std::size_t size = 2; size < bytes.size(); ++size) {
    const Unpacked got = unpack(bytes.substr(0, size));
    EXPECT_EQ(got.error, size == first ? 0 : EBADMSG) << size;
    EXPECT_TRUE((text + text).starts_with(got.text)) << size;
  }
}

TEST(UnpackedFiles, GiveAllThatComesBeforeTheDamage) {
  const std::string text = long_text();
  std::string bytes = packed(text);
  bytes[bytes.size() - 5] ^= 1;  // of the length
  for (const std::size_t at_once : {std::size_t{100}, std::size_t{1} << 20}) {
    const Unpacked got = unpack(bytes, at_once);
    EXPECT_TRUE(got.text == text);
    EXPECT_EQ(got.error, EBADMSG);
  }
}

// Whoever reads on may be told to stop meanwhile.
TEST(UnpackedFiles, AreInterruptedInAWasteOfZeros) {
  const auto files = std::make_shared<FakeFileSystem>();
  files->add("/d/f", packed("x") + std::string(8 << 20, '\0'));
  const auto opened = ops::unpacked(files)->open("/d/f");
  std::array<std::byte, 4> some{};
  EXPECT_EQ(opened.value->read(some).value, 1u);
  EXPECT_EQ(opened.value->read(some).error, EINTR);
  EXPECT_EQ(read(*opened.value, 4).error, 0);
}

// Of a header some bytes say nothing that counts.
TEST(UnpackedFiles, AreDamagedWhereAByteIsAnother) {
  const std::string text = "some text, and some text again\n", bytes = packed(text);
  for (std::size_t i = 10; i < bytes.size(); ++i) {
    for (const int flip : {1, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      EXPECT_EQ(unpack(damaged).error, EBADMSG) << i;
    }
  }
  EXPECT_EQ(unpack(bytes + "something else").error, EBADMSG);
}

TEST(UnpackedFiles, MayBeAnything) {
  test::Random random(7);
  const std::string whole = packed(long_text().substr(0, 300)) + packed("x");
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 3; ++i)
      bytes[static_cast<std::size_t>(random.between(2, std::ssize(bytes) - 1))] = static_cast<char>(random.below(256));
    const Unpacked got = unpack(bytes, static_cast<std::size_t>(random.between(1, 5000)));
    EXPECT_TRUE(got.error == 0 || got.error == EBADMSG) << round;
  }
}

TEST(UnpackedFiles, AreReadAgainFromTheirBeginning) {
  const auto files = std::make_shared<FakeFileSystem>();
  files->add("/d/f", packed("first\n") + packed("second\n"));
  const auto opened = ops::unpacked(files)->open("/d/f");
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(read(*opened.value, 8).text, "first\nsecond\n");
    EXPECT_EQ(opened.value->rewind(), 0);
  }
  std::array<std::byte, 4> some{};
  EXPECT_EQ(opened.value->read(some).value, 4u);
  EXPECT_EQ(opened.value->rewind(), 0);
  EXPECT_EQ(read(*opened.value, 8).text, "first\nsecond\n");
}

class PackedLines : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) const {
    const auto path = (folder_.path() / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

 private:
  test::TemporaryFolder folder_;
};

std::vector<std::string> texts_of(const Dataset<std::string>& data, const RunOptions& options = {}) {
  std::vector<std::string> texts;
  auto run = data.start(options);
  for (bool has_more = true; has_more;) {
    try {
      const auto line = run.next();
      has_more = line.has_value();
      if (line) texts.push_back(*line);
    } catch (const ElementError& error) {
      texts.push_back(std::string(to_string(error.code())) + ": " + message_of(error.cause()));
    }
  }
  return texts;
}

TEST_F(PackedLines, AreThoseOfTheText) {
  const std::string text = long_text();
  const auto data = lines({write("plain", text), write("packed", packed(text))});
  auto twice = test::plain_lines(text);
  const std::size_t once = twice.size();
  twice.resize(2 * once);
  std::copy_n(twice.begin(), once, twice.begin() + static_cast<std::ptrdiff_t>(once));
  EXPECT_TRUE(texts_of(data) == twice);
  EXPECT_TRUE(texts_of(data, {.serial = true}) == twice);
}

TEST_F(PackedLines, HaveAnErrorInPlaceOfWhatIsDamaged) {
  const std::string whole = packed("1\n2\n");
  const auto data = lines({write("a", whole.substr(0, whole.size() - 4)), write("b", "3\n")});
  EXPECT_THAT(texts_of(data), ElementsAre("1", "2", HasSubstr("data_loss: cannot read line 3 of"), "3"));
}

TEST_F(PackedLines, AreInnerDatasetsToo) {
  const std::vector<std::string> paths{write("a", packed("1\n2\n")), write("b", packed("3\n4\n"))};
  const auto data = from_vector(paths).interleave([](const std::string& path) { return lines(path); });
  EXPECT_THAT(texts_of(data), ElementsAre("1", "3", "2", "4"));
}

}  // namespace
}  // namespace penstock
