// lines: files in memory and on disk, through whole runs.
#include "ops/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/penstock.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lib/graph/node.h"
#include "tests/support/expect_error.h"
#include "tests/support/fake_file_system.h"
#include "tests/support/plain_lines.h"
#include "tests/support/random.h"
#include "tests/support/temporary_folder.h"

namespace penstock {
namespace {

using test::FakeFileSystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Texts = std::vector<std::string>;

Dataset<std::string> lines_of(const std::shared_ptr<const io::FileSystem>& files, Texts paths,
                              const LinesOptions& options = {}) {
  const CallSite site = CallSite::here();
  const auto blocks = graph::append(nullptr, ops::lines(files, std::move(paths), options), site);
  return Dataset<std::string>(graph::append(blocks, ops::split_lines(), site));
}

// To the end of the epoch, with what is said of an error in its place.
Texts rest_of(Run<std::string>& run) {
  Texts texts;
  for (bool has_more = true; has_more;) {
    try {
      auto line = run.next();
      has_more = line.has_value();
      if (line) texts.push_back(std::move(*line));
    } catch (const ElementError& error) {
      texts.push_back(error.place().op + ": " + message_of(error.cause()));
    }
  }
  return texts;
}

Texts read(const Dataset<std::string>& data, const RunOptions& options = {}) {
  auto run = data.start(options);
  return rest_of(run);
}

std::shared_ptr<FakeFileSystem> three_files() {
  auto files = std::make_shared<FakeFileSystem>();
  files->add("/d/a", "a1\na2\n");
  files->add("/d/b", "");
  files->add("/d/c", "c1\r\n\r\nc3");
  return files;
}

const Texts kThree{"/d/a", "/d/b", "/d/c"};

TEST(Lines, AreThoseOfEachFileOneAfterTheOther) {
  const auto data = lines_of(three_files(), kThree);
  EXPECT_THAT(read(data), ElementsAre("a1", "a2", "c1", "", "c3"));
  EXPECT_THAT(read(data, {.serial = true}), ElementsAre("a1", "a2", "c1", "", "c3"));
}

TEST(Lines, OfNoFilesAreNone) { EXPECT_THAT(read(lines(Texts())), IsEmpty()); }

TEST(Lines, AreThoseOfFilesOnDisk) {
  const test::TemporaryFolder folder;
  const std::string one = folder.path() / "one.txt", two = folder.path() / "two.txt";
  std::ofstream(one) << "first\nsecond\n";
  std::ofstream(two) << "third";
  EXPECT_THAT(read(lines(one)), ElementsAre("first", "second"));
  EXPECT_THAT(read(lines(one.c_str(), {.max_line_bytes = 5})), ElementsAre("first", HasSubstr("line 2")));
  EXPECT_THAT(read(lines(folder.path() / "one.txt")), ElementsAre("first", "second"));
  EXPECT_THAT(read(lines({one, two})), ElementsAre("first", "second", "third"));
  EXPECT_THAT(read(lines(folder.path().string())), ElementsAre(HasSubstr("Is a directory")));
}

// As many chunks, and errors among them, as a small file does not have.
struct LargeFiles {
  explicit LargeFiles(std::uint64_t seed) {
    test::Random random(seed);
    for (int file = 0; file < 4; ++file) {
      std::string text;
      while (text.size() < 700'000)
        text += std::string(static_cast<std::size_t>(random.below(300)), static_cast<char>('a' + file)) + "\r\n";
      paths.push_back("/d/" + std::to_string(file));
      files->add(paths.back(), text);
      for (std::string& line : test::plain_lines(text)) expected.push_back(std::move(line));
    }
  }

  std::shared_ptr<FakeFileSystem> files = std::make_shared<FakeFileSystem>();
  Texts paths, expected;
};

TEST(Lines, OfLargeFilesAreAllThereInOrder) {
  const LargeFiles large(1);
  const auto data = lines_of(large.files, large.paths);
  for (const int threads : {1, 2, 8}) EXPECT_TRUE(read(data, {.threads = threads}) == large.expected) << threads;
  EXPECT_TRUE(read(data, {.serial = true}) == large.expected);
  EXPECT_TRUE(read(data, {.threads = 2, .memory_bytes = 1}) == large.expected) << "with memory for nothing";
}

TEST(Lines, BeginAtTheFirstFileInEachPassAndEpoch) {
  auto run = lines_of(three_files(), kThree).repeat(2).start();
  for (const std::uint32_t epoch : {0u, 1u, 7u}) {
    run.epoch(epoch);
    EXPECT_THAT(rest_of(run), ElementsAre("a1", "a2", "c1", "", "c3", "a1", "a2", "c1", "", "c3"));
  }
  run.epoch(8);
  EXPECT_EQ(run.next(), "a1");
  run.epoch(9);
  EXPECT_EQ(run.next(), "a1") << "also behind an epoch that was left";
}

TEST(Lines, BehindATakeAreNotRead) {
  const auto files = three_files();
  EXPECT_THAT(read(lines_of(files, kThree).take(1), {.serial = true}), ElementsAre("a1"));
  EXPECT_THAT(files->calls(), ElementsAre("open /d/a", "status", "read", "read", "close"));
  const LargeFiles large(2);
  EXPECT_TRUE(read(lines_of(large.files, large.paths).take(5000)) ==
              Texts(large.expected.begin(), large.expected.begin() + 5000));
}

TEST(Lines, HaveAnErrorInThePlaceOfAFileThatCannotBeOpened) {
  const auto files = three_files();
  files->add("/d/folder", io::FileKind::folder);
  files->fail("/d/b", {.open = EACCES});
  const auto data = lines_of(files, {"/d/none", "/d/a", "/d/folder", "/d/b", "/d/c"});
  for (const bool serial : {false, true}) {
    EXPECT_THAT(read(data, {.serial = serial}),
                ElementsAre("lines: cannot open '/d/none': No such file or directory (check the path)", "a1", "a2",
                            HasSubstr("cannot read '/d/folder': Is a directory"),
                            HasSubstr("cannot open '/d/b': Permission denied"), "c1", "", "c3"));
    EXPECT_EQ(read(data.ignore_errors(), {.serial = serial}).size(), 5u);
  }
}

TEST(Lines, HaveAnErrorInThePlaceOfOneThatIsTooLong) {
  const auto files = three_files();
  files->add("/d/b", "b1\nlonger than that\nb3\n");
  EXPECT_THAT(
      read(lines_of(files, kThree, {.max_line_bytes = 3})),
      ElementsAre("a1", "a2", "b1", AllOf(HasSubstr("cannot read line 2 of '/d/b'"), HasSubstr("more than 3 bytes")),
                  "b3", "c1", "", "c3"));
}

TEST(Lines, HaveAnErrorInThePlaceOfTheRestOfAFileThatFails) {
  const auto files = three_files();
  files->fail("/d/a", {.read = EIO, .after = 3});
  EXPECT_THAT(read(lines_of(files, kThree)),
              ElementsAre("a1", HasSubstr("cannot read line 2 of '/d/a': Input/output error"), "c1", "", "c3"));
}

// From behind each delivery, also behind errors, and in a second pass.
TEST(Lines, GoOnFromACheckpointAnywhere) {
  const auto files = three_files();
  files->add("/d/b", "b1\nlonger than that\nb3\n");
  const auto data = lines_of(files, {"/d/none", "/d/a", "/d/b", "/d/c"}, {.max_line_bytes = 3}).repeat(2);
  for (const bool serial : {false, true}) {
    const Texts all = read(data, {.serial = serial});
    ASSERT_EQ(all.size(), 18u);
    auto run = data.start({.serial = serial});
    for (std::size_t place = 0; place <= all.size(); ++place) {
      const auto saved = std::make_shared<const Checkpoint>(run.checkpoint());
      const Texts rest(all.begin() + static_cast<std::ptrdiff_t>(place), all.end());
      EXPECT_EQ(read(data, {.serial = !serial, .resume_from = saved}), rest) << place;
      try {
        run.next();
      } catch (const ElementError&) {
        continue;
      }
    }
  }
}

TEST(Lines, GoOnFromTheMiddleOfAChunk) {
  const LargeFiles large(3);
  const auto data = lines_of(large.files, large.paths).map([](const std::string& line) { return line + "!"; });
  for (const std::size_t place : {1u, 1000u, 7777u, 15'000u}) {
    auto run = data.start();
    for (std::size_t i = 0; i < place; ++i) run.next();
    auto rest = data.start({.resume_from = std::make_shared<const Checkpoint>(run.checkpoint())});
    EXPECT_EQ(rest.next(), large.expected[place] + "!");
  }
}

TEST(Lines, HaveRandomNumbersOfTheirOwn) {
  const LargeFiles large(4);
  const auto draw = [](const std::string&, Context& context) { return context.rng()(); };
  const auto draws = lines_of(large.files, large.paths).map(draw);
  std::set<std::uint64_t> seen;
  std::size_t count = 0;
  for (const std::uint64_t number : draws) seen.insert(number), ++count;
  EXPECT_EQ(count, large.expected.size());
  EXPECT_GE(seen.size() + 1, count) << "of 32 or 64 bits nearly all differ";
}

// Also of what has no elements, in a later pass, and behind other ops.
TEST(Lines, AreNamedByTheirFileInErrors) {
  const auto files = three_files();
  const auto fail = [](const std::string& line) -> std::string { throw std::runtime_error(line); };
  const auto data = lines_of(files, {"/d/none", "/d/a", "/d/b", "/d/c"}).map(fail).repeat(2);
  for (const bool serial : {false, true}) {
    Texts origins;
    auto run = data.start({.serial = serial});
    for (bool has_more = true; has_more;) try {
        has_more = run.next().has_value();
      } catch (const ElementError& error) {
        origins.push_back(error.place().origin);
      }
    const Texts once{"/d/none", "/d/a", "/d/a", "/d/c", "/d/c", "/d/c"};
    ASSERT_EQ(origins.size(), 2 * once.size());
    EXPECT_TRUE(std::equal(once.begin(), once.end(), origins.begin()));
    EXPECT_TRUE(std::equal(once.begin(), once.end(), origins.begin() + 6));
  }
}

TEST(Lines, AreNamedByTheirFileToFunctions) {
  const auto files = three_files();
  const auto name = [](const std::string& line, Context& context) { return context.origin() + " " + line; };
  EXPECT_THAT(read(lines_of(files, kThree).map(name)),
              ElementsAre("/d/a a1", "/d/a a2", "/d/c c1", "/d/c ", "/d/c c3"));
  const auto both = [&](const std::string& one, const std::string& other, Context& context) {
    return one + other + context.origin();
  };
  EXPECT_THAT(read(zip(lines_of(files, {"/d/a"}), lines_of(files, {"/d/c"})).map(both)),
              ElementsAre(HasSubstr("a1c1/d/"), HasSubstr("a2/d/")));
}

TEST(Lines, AreReadWhereCallsMayWait) {
  auto run = lines_of(three_files(), kThree).start({.tune = false});
  rest_of(run);
  EXPECT_TRUE(run.snapshot().stages[0].on_pool);
  EXPECT_FALSE(run.snapshot().stages[1].on_pool);
}

// One line that never ends.
class EndlessFiles final : public io::FileSystem {
 public:
  class Endless final : public io::File {
   public:
    io::Answer<io::FileStatus> status() override { return {}; }
    io::Answer<std::size_t> read(std::span<std::byte> to) override {
      std::ranges::fill(to, std::byte{'x'});
      return {.value = to.size()};
    }
    int rewind() override { return 0; }
  };
  io::Answer<std::unique_ptr<io::File>> open(const std::string&) const override {
    return {.value = std::make_unique<Endless>()};
  }
  io::Answer<io::FileStatus> status(const std::string&) const override { return {}; }
  io::Answer<std::vector<io::FolderEntry>> list(const std::string&) const override { return {}; }
  io::Answer<std::string> real_path(const std::string&) const override { return {}; }
  int replace(const std::string&, std::span<const std::byte>) const override { return 0; }
  void pause(std::chrono::milliseconds) const override {}
};

TEST(Lines, OfAFileWithoutEndAreGivenUpWithTheRun) {
  auto run = lines_of(std::make_shared<EndlessFiles>(), {"/d/f"}, {.max_line_bytes = 1000}).start();
  EXPECT_THROW(run.next(), ElementError);
  EXPECT_TRUE(run.next_for(std::chrono::milliseconds(20)).timed_out()) << "it is being read";
}

TEST(Lines, AreNotCountedBeforeTheyAreRead) {
  EXPECT_EQ(lines("a.txt").cardinality(), UNKNOWN_CARDINALITY);
  EXPECT_EQ(lines("a.txt").repeat().cardinality(), INFINITE_CARDINALITY);
}

TEST(Lines, ArePrintedWithTheirFirstFile) {
  EXPECT_EQ(graph::pipeline_text(lines("a.txt").node()),
            "0 lines(a.txt, 1 file, max_line_bytes=67108864)\n1 split_lines()\n");
  EXPECT_EQ(graph::pipeline_text(lines({"a", "b"}, {.max_line_bytes = 9}).node()),
            "0 lines(a, 2 files, max_line_bytes=9)\n1 split_lines()\n");
}

TEST(Lines, WantALengthThatCanBe) {
  for (const std::int64_t length : {std::int64_t{0}, std::int64_t{-1}, (std::int64_t{1} << 30) + 1})
    EXPECT_ERROR(lines("a.txt", {.max_line_bytes = length}, {"train.cc", 3}), ErrorCode::invalid_argument,
                 "lines: max_line_bytes must be at least 1 and at most 1073741824, but is " + std::to_string(length) +
                     " (op 0 of the chain, train.cc:3)");
}

}  // namespace
}  // namespace penstock
