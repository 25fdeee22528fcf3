// Lines of files in memory, beside those found letter by letter: across the ends of chunks and short reads, and where
// lines are too long or files fail.
#include "ops/io/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tests/support/environment.h"
#include "tests/support/expect_error.h"
#include "tests/support/fake_file_system.h"
#include "tests/support/plain_lines.h"
#include "tests/support/random.h"

namespace penstock::io {
namespace {

using test::FakeFileSystem;
using test::Faults;
using test::plain_lines;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Lines = std::vector<std::string>;

constexpr std::size_t kLong = 64 << 20, kChunk = LineReader::kChunk;

void append(Lines& lines, const LineBlock& block) {
  for (std::size_t i = 0; i < block.size(); ++i) lines.emplace_back(block[i]);
}

// To the end, with the text of an error in its place.
Lines lines_in(LineReader& reader) {
  Lines lines;
  for (bool has_more = true; has_more;) {
    try {
      const auto block = reader.next();
      if (block) append(lines, *block);
      has_more = block.has_value();
    } catch (const Error& error) {
      lines.push_back(std::string(to_string(error.code())) + ": " + error.what());
    }
  }
  return lines;
}

Lines lines_in(const FakeFileSystem& files, std::size_t max_line_bytes = kLong) {
  LineReader reader(files, "/d/f", max_line_bytes);
  return lines_in(reader);
}

Lines lines_in(const std::string& text, std::size_t max_line_bytes = kLong, Faults faults = {}) {
  FakeFileSystem files;
  files.add("/d/f", text);
  files.fail("/d/f", std::move(faults));
  return lines_in(files, max_line_bytes);
}

std::string too_long(int line, std::size_t limit) {
  return "data_loss: cannot read line " + std::to_string(line) + " of '/d/f': it has more than " +
         std::to_string(limit) + " bytes (max_line_bytes, which may be raised); is it a text file?";
}

TEST(LineReader, EndsALineWhereItsEndIsOrTheFiles) {
  EXPECT_THAT(lines_in("a\nb\n"), ElementsAre("a", "b"));
  EXPECT_THAT(lines_in("a\nb"), ElementsAre("a", "b"));
  EXPECT_THAT(lines_in("a\r\nb\r\n"), ElementsAre("a", "b"));
  EXPECT_THAT(lines_in("a\n\nb"), ElementsAre("a", "", "b"));
  EXPECT_THAT(lines_in("\n"), ElementsAre(""));
  EXPECT_THAT(lines_in("\r\n\r\n"), ElementsAre("", ""));
  EXPECT_THAT(lines_in(""), IsEmpty());
}

// tf.data leaves out each '\r', wherever it is.
TEST(LineReader, KeepsACarriageReturnThatEndsNoLine) {
  EXPECT_THAT(lines_in("a\rb\n"), ElementsAre("a\rb"));
  EXPECT_THAT(lines_in("a\r\r\n"), ElementsAre("a\r"));
  EXPECT_THAT(lines_in("a\r"), ElementsAre("a\r"));
  EXPECT_THAT(lines_in("\r"), ElementsAre("\r"));
}

TEST(LineReader, KeepsAllOtherBytes) {
  const std::string text("\0\x01\xff\n\0\n\xc3\xa4\x1f\x8b", 10);
  EXPECT_EQ(lines_in(text), plain_lines(text));
  EXPECT_EQ(lines_in(text).size(), 3u);
}

std::string random_text(test::Random& random) {
  static const std::vector<std::string> parts{"\n", "\r\n", "\r", std::string(1, '\0'), "a", "some words", "\n\n"};
  const auto size = static_cast<std::size_t>(random.below(3) * static_cast<std::int64_t>(kChunk) + random.below(400));
  const bool has_short_lines = random.one_in(2);
  std::string text;
  while (text.size() < size)
    text += has_short_lines || random.one_in(4) ? random.pick(parts)
                                                : std::string(static_cast<std::size_t>(random.below(60'000)), 'x');
  return text;
}

TEST(LineReader, FindsWhatIsFoundLetterByLetterHoweverMuchAReadGives) {
  for (std::int64_t seed = 0; seed < test::how_many(200); ++seed) {
    test::Random random(static_cast<std::uint64_t>(seed));
    const std::string text = random_text(random);
    const Lines expected = plain_lines(text);
    EXPECT_TRUE(lines_in(text) == expected) << "seed " << seed;
    const auto at_once = static_cast<std::size_t>(1000 + random.below(100'000));
    EXPECT_TRUE(lines_in(text, kLong, {.read = EINTR, .times = 2, .at_once = at_once}) == expected) << "seed " << seed;
  }
}

TEST(LineReader, LeavesOutThoseThatAreTooLongAndNoOthers) {
  for (std::int64_t seed = 0; seed < test::how_many(200); ++seed) {
    test::Random random(static_cast<std::uint64_t>(seed));
    const std::string text = random_text(random);
    const auto limit = static_cast<std::size_t>(1 + random.below(random.one_in(2) ? 12 : 100'000));
    Lines expected = plain_lines(text);
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (expected[i].size() > limit) expected[i] = too_long(static_cast<int>(i) + 1, limit);
    EXPECT_TRUE(lines_in(text, limit) == expected) << "seed " << seed;
  }
}

// How many lines each block has.
std::vector<std::size_t> blocks_of(const std::string& text, std::size_t at_once) {
  FakeFileSystem files;
  files.add("/d/f", text);
  files.fail("/d/f", {.at_once = at_once});
  LineReader reader(files, "/d/f", kLong);
  std::vector<std::size_t> sizes;
  while (const auto block = reader.next()) sizes.push_back(block->size());
  return sizes;
}

// Random numbers and checkpoints go by the place in a block.
TEST(LineReader, MakesTheSameBlocksHoweverMuchAReadGives) {
  test::Random random(1);
  for (int i = 0; i < 20; ++i) {
    const std::string text = random_text(random);
    EXPECT_EQ(blocks_of(text, 12'345), blocks_of(text, text.size() + 1));
  }
}

TEST(LineReader, JoinsLinesAndTheirEndsAcrossChunks) {
  for (std::size_t border = kChunk - 3; border <= kChunk + 2; ++border) {
    const std::string text = "first\n" + std::string(border - 6, 'x') + "\r\nlast\r\n";
    EXPECT_TRUE(lines_in(text) == plain_lines(text)) << border;
    EXPECT_EQ(lines_in(text).back(), "last") << border;
  }
}

TEST(LineReader, GivesALineThatIsMuchLongerThanAChunk) {
  const std::string line(5 * kChunk + 17, 'x'), text = "a\n" + line + "\r\nb\n";
  EXPECT_TRUE(lines_in(text) == plain_lines(text));
  EXPECT_EQ(lines_in(text, line.size()).size(), 3u);
  EXPECT_THAT(lines_in(text, line.size() - 1), ElementsAre("a", too_long(2, line.size() - 1), "b"));
}

TEST(LineReader, CountsNoLineEndAsPartOfALine) {
  EXPECT_THAT(lines_in("abc\r\nabc\nabc", 3), ElementsAre("abc", "abc", "abc"));
  EXPECT_THAT(lines_in("abcd\r\nabc\r\n\nabcd", 3), ElementsAre(too_long(1, 3), "abc", "", too_long(4, 3)));
  EXPECT_THAT(lines_in("abc\r", 3), ElementsAre(too_long(1, 3)));
}

TEST(LineReader, DoesNotCountAReturnWhoseLineEndIsInTheNextChunk) {
  const std::string line(kChunk - 1, 'x');
  EXPECT_THAT(lines_in(line + "\r\nb", line.size()), ElementsAre(line, "b"));
  EXPECT_THAT(lines_in(line + "\rc\nb", line.size()), ElementsAre(too_long(1, line.size()), "b"));
}

TEST(LineReader, TellsEachLineThatIsTooLongOnce) {
  const std::string line(3 * kChunk, 'x');
  EXPECT_THAT(lines_in(line + "\n" + line + "\r\nb\n" + line, 10),
              ElementsAre(too_long(1, 10), too_long(2, 10), "b", too_long(4, 10)));
}

TEST(LineReader, HoldsAChunkAndNotTheFile) {
  FakeFileSystem files;
  std::string text;
  while (text.size() < 8 * kChunk) text += "some words, and some more of them\n";
  files.add("/d/f", text);
  LineReader reader(files, "/d/f", kLong);
  while (const auto block = reader.next()) EXPECT_LE(bytes_of(*block), kChunk + kChunk / 2);
  files.add("/d/f", "a\nb\n");
  EXPECT_LE(bytes_of(*LineReader(files, "/d/f", kLong).next()), 5000u) << "a small file has a small one";
}

TEST(LineReader, GivesBlocksThatStayWhenItIsGone) {
  FakeFileSystem files;
  files.add("/d/f", std::string(kChunk, 'x') + "\nb\n");
  std::optional<LineReader> reader(std::in_place, files, "/d/f", kLong);
  std::vector<LineBlock> blocks;
  while (const auto block = reader->next()) blocks.push_back(*block);
  reader.reset();
  Lines lines;
  for (const LineBlock& block : blocks) append(lines, block);
  EXPECT_THAT(lines, ElementsAre(std::string(kChunk, 'x'), "b"));
}

TEST(LineReader, TakesNoMoreCallsThanItMust) {
  FakeFileSystem files;
  files.add("/d/f", "abc\n");
  EXPECT_THAT(lines_in(files), ElementsAre("abc"));
  EXPECT_THAT(files.calls(), ElementsAre("open /d/f", "status", "read", "read", "close"));
}

TEST(LineReaderFaults, AFileThatCannotBeOpenedSaysWhy) {
  FakeFileSystem files;
  EXPECT_ERROR(lines_in(files), ErrorCode::not_found, "cannot open '/d/f': No such file or directory (check the path)");
  files.add("/d/f", FileKind::folder);
  EXPECT_ERROR(lines_in(files), ErrorCode::invalid_argument, "cannot read '/d/f': Is a directory");
  files.add("/d/f", FileKind::other);
  EXPECT_ERROR(lines_in(files), ErrorCode::invalid_argument, "not a regular file");
  EXPECT_ERROR(LineReader(files, std::string("/d\0/f", 5), 1), ErrorCode::invalid_argument, "NUL");
}

TEST(LineReaderFaults, WhatWasReadBeforeADiskFailsIsGiven) {
  EXPECT_THAT(
      lines_in("a\nb\nc\nd\n", kLong, {.read = EIO, .after = 5}),
      ElementsAre("a", "b", HasSubstr("unavailable: cannot read line 3 of '/d/f': Input/output error (a fault")));
  EXPECT_THAT(lines_in("a\nb\n", kLong, {.read = EIO}), ElementsAre(HasSubstr("cannot read line 1 of '/d/f'")));
}

TEST(LineReaderFaults, AFileThatShrinksEndsWithAnError) {
  FakeFileSystem files;
  files.add("/d/f", "ab\ncd\nef\ngh\nij\n");
  files.fail("/d/f", {.half_way = [&] { files.overwrite("/d/f", "ab\ncd\ne"); }});
  EXPECT_THAT(lines_in(files),
              ElementsAre("ab", "cd", HasSubstr("unavailable: cannot read '/d/f': it shrank from 15 to 7 bytes")));
}

TEST(LineReaderFaults, AFileThatGrowsIsReadToItsNewEnd) {
  FakeFileSystem files;
  files.add("/d/f", "ab\ncd\n");
  const std::string text = "ab\ncd\n" + std::string(2 * kChunk, 'x') + "\nlast\n";
  files.fail("/d/f", {.half_way = [&] { files.overwrite("/d/f", text); }});
  EXPECT_TRUE(lines_in(files) == plain_lines(text));
}

TEST(LineReader, StopsBetweenTwoReads) {
  FakeFileSystem files;
  std::stop_source stop;
  files.add("/d/f", std::string(8 * kChunk, 'x'));
  files.fail("/d/f", {.at_once = 1000, .half_way = [&] { stop.request_stop(); }});
  LineReader reader(files, "/d/f", 100);
  EXPECT_THROW(reader.next(stop.get_token()), Error) << "too long";
  EXPECT_FALSE(reader.next(stop.get_token()).has_value());
  const auto reads = [&] { return std::ranges::count(files.calls(), "read"); };
  const auto before = reads();
  EXPECT_FALSE(reader.next(stop.get_token()).has_value());
  EXPECT_EQ(reads(), before);
  EXPECT_LE(before, 4 * static_cast<std::ptrdiff_t>(kChunk) / 1000 + 10) << "it went on after half of the file";
}

}  // namespace
}  // namespace penstock::io
