// cache(path): what is in the file, and what is not when something goes wrong. Files in memory and on disk.
//
//   ops_test                      20 writers are killed, 10,000 damaged files
//   PENSTOCK_FULL=1 ops_test      200, and 100,000
#include "ops/file_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/penstock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lib/graph/node.h"
#include "tests/support/environment.h"
#include "tests/support/expect_error.h"
#include "tests/support/fake_file_system.h"
#include "tests/support/random.h"
#include "tests/support/temporary_folder.h"

namespace penstock {
namespace {

using test::FakeFileSystem;
using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

const std::string kPath = "/d/cache";

Texts numbers(std::int64_t count) {
  Texts texts;
  for (std::int64_t i = 0; i < count; ++i) texts.push_back(std::to_string(i));
  return texts;
}

// Texts from "0" on, behind a cache with such files, and how many of them were made.
class Cached {
 public:
  explicit Cached(std::shared_ptr<const io::FileSystem> files, std::int64_t count = 10,
                  const CacheOptions& options = {})
      : dataset_(made(std::move(files), count, options)) {}
  explicit Cached(const std::string& path, std::int64_t count = 10) : dataset_(texts(count).cache(path)) {}

  // Of so many epochs; an error as "x".
  Texts read(std::uint32_t epochs = 1, RunOptions options = {}) const {
    options.epochs = epochs;
    auto run = dataset_.start(options);
    Texts texts;
    for (std::uint32_t epoch = 0; epoch < epochs;) {
      try {
        auto text = run.next();
        if (!text) run.epoch(++epoch);
        if (text) texts.push_back(*text);
      } catch (const ElementError&) {
        texts.emplace_back("x");
      }
    }
    return texts;
  }
  const Dataset<std::string>& dataset() const { return dataset_; }
  std::int64_t made() const { return made_; }
  std::int64_t fails_at = -1;

 private:
  Dataset<std::string> texts(std::int64_t count) {
    return range(count).map([this](std::int64_t x) {
      if (x == fails_at) throw std::runtime_error("as told");
      ++made_;
      return std::to_string(x);
    });
  }
  Dataset<std::string> made(std::shared_ptr<const io::FileSystem> files, std::int64_t count,
                            const CacheOptions& options) {
    return texts(count).then(
        std::make_shared<ops::FileCacheOp>(std::move(files), std::make_shared<detail::TypedElementCodec<std::string>>(),
                                           kPath, options, CallSite::here()));
  }

  std::atomic<std::int64_t> made_{0};
  Dataset<std::string> dataset_;
};

Texts times(Texts texts, int count) {
  Texts all;
  for (; count > 0; --count) all.insert(all.end(), texts.begin(), texts.end());
  return all;
}

TEST(FileCache, IsWrittenByTheFirstPassAndReadByAllOthers) {
  for (const RunOptions& options : std::vector<RunOptions>{{}, {.serial = true}}) {
    const auto files = std::make_shared<FakeFileSystem>();
    const Cached first(files);
    EXPECT_EQ(first.read(3, options), times(numbers(10), 3));
    EXPECT_EQ(first.made(), 10);
    const Cached second(files, 3);
    EXPECT_EQ(second.read(2, options), times(numbers(10), 2)) << "whatever is before it";
    EXPECT_EQ(second.made(), 0);
  }
}

TEST(FileCache, IsWrittenByTheFirstPassThatComesToItsEnd) {
  constexpr std::int64_t kMany = 50'000;  // more than are read ahead
  const auto files = std::make_shared<FakeFileSystem>();
  const Cached cached(files, kMany);
  for (int run = 0; run < 2; ++run) {
    Texts texts;
    for (auto&& text : cached.dataset().take(2).repeat(2)) texts.push_back(text);
    EXPECT_EQ(texts, times(numbers(2), 2));
  }
  EXPECT_THROW(files->bytes_of(kPath), std::out_of_range);
  EXPECT_EQ(cached.read(), numbers(kMany));
  EXPECT_NE(files->bytes_of(kPath), "");
}

TEST(FileCache, HoldsManyBlocksOfElementsOfAnySize) {
  test::TemporaryFolder folder;
  const auto path = (folder.path() / "many").string();
  const auto texts = range(3000).map([](std::int64_t x) { return std::string(static_cast<std::size_t>(x), 'x'); });
  std::vector<std::string> expected;
  for (auto&& text : texts) expected.push_back(text);
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<std::string> found;
    for (auto&& text : texts.cache(path)) found.push_back(text);
    EXPECT_EQ(found, expected);
  }
  EXPECT_GT(std::filesystem::file_size(path), std::uintmax_t{4'000'000});
}

TEST(FileCache, IsNotWrittenWhereAPassHasAnError) {
  const auto files = std::make_shared<FakeFileSystem>();
  Cached cached(files, 3);
  cached.fails_at = 1;
  EXPECT_EQ(cached.read(2), (Texts{"0", "x", "2", "0", "x", "2"}));
  EXPECT_THROW(files->bytes_of(kPath), std::out_of_range);
  cached.fails_at = -1;
  EXPECT_EQ(cached.read(2), times(numbers(3), 2));
  EXPECT_EQ(cached.made(), 4 + 3);
}

// A full disk, one that fails, others that write: the elements come, and no file.
TEST(FileCache, LetsElementsComeWhereItCannotBeWritten) {
  for (const test::Faults& faults :
       {test::Faults{.create = ENOSPC}, test::Faults{.write = ENOSPC, .after = 0},
        test::Faults{.write = EIO, .after = 100}, test::Faults{.publish = EIO}, test::Faults{.create = EACCES}}) {
    const auto files = std::make_shared<FakeFileSystem>();
    files->fail(kPath, faults);
    const Cached cached(files);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(cached.read(3), times(numbers(10), 3));
    const std::string told = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(told, HasSubstr("tests/ops/file_cache_test.cc, file '/d/cache': cannot be written: "));
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
    EXPECT_EQ(cached.made(), 30);
    EXPECT_THROW(files->bytes_of(kPath), std::out_of_range);
    files->fail(kPath, {});
    EXPECT_EQ(cached.read(2), times(numbers(10), 2));
    EXPECT_EQ(cached.made(), 40);
  }
}

TEST(FileCache, BearsInterruptedAndShortCalls) {
  const auto files = std::make_shared<FakeFileSystem>();
  files->fail(kPath, {.read = EINTR, .write = EINTR, .times = 1, .at_once = 7});
  const Cached cached(files);
  EXPECT_EQ(cached.read(3), times(numbers(10), 3));
  EXPECT_EQ(cached.made(), 10);
}

TEST(FileCache, OfTwoWritersOneWritesAndBothGoOn) {
  const auto files = std::make_shared<FakeFileSystem>();
  const Cached one(files), other(files);
  auto a = one.dataset().start(), b = other.dataset().start();
  for (const std::string& expected : numbers(10)) {
    EXPECT_EQ(a.next(), expected);
    EXPECT_EQ(b.next(), expected);
  }
  EXPECT_EQ(a.next(), std::nullopt);
  EXPECT_EQ(b.next(), std::nullopt);
  EXPECT_EQ(Cached(files, 0).read(), numbers(10));
}

TEST(FileCache, OfMoreBytesThanItMayHaveIsNotWritten) {
  const auto files = std::make_shared<FakeFileSystem>();
  const Cached cached(files, 10, {.max_bytes = 100});
  EXPECT_EQ(cached.read(2), times(numbers(10), 2));
  EXPECT_EQ(cached.made(), 20);
  EXPECT_THROW(files->bytes_of(kPath), std::out_of_range);
}

TEST(FileCache, OfAnotherTypeIsAnErrorThatSaysSo) {
  const auto files = std::make_shared<FakeFileSystem>();
  EXPECT_EQ(Cached(files).read(), numbers(10));
  const auto other = range(3).then(std::make_shared<ops::FileCacheOp>(
      files, std::make_shared<detail::TypedElementCodec<std::int64_t>>(), kPath, CacheOptions{}, CallSite::here()));
  auto run = other.start();
  EXPECT_ERROR(run.next(), ErrorCode::failed_precondition, "holds elements of type std::string, and long is wanted");
  EXPECT_EQ(run.next(), std::nullopt);
}

TEST(FileCache, RefusesAPathThatIsNone) {
  EXPECT_ERROR(range(3).cache(""), ErrorCode::invalid_argument, "cache: path must be that of a file");
  EXPECT_ERROR(range(3).cache("x", {.max_bytes = -1}), ErrorCode::invalid_argument, "cache: max_bytes must be 0");
}

// ------------------------------------------------------------------------------------------------ damage

// Each byte of a file of one block, and each length: what comes is right, and nobody waits.
TEST(FileCache, GivesTheRightElementsWhateverBytesAreDamaged) {
  const auto files = std::make_shared<FakeFileSystem>();
  EXPECT_EQ(Cached(files).read(), numbers(10));
  const std::string whole = files->bytes_of(kPath);
  ::testing::internal::CaptureStderr();  // a line for each
  for (std::size_t place = 0; place < whole.size(); ++place) {
    std::string bytes = whole;
    bytes[place] = static_cast<char>(bytes[place] ^ 0x40);
    files->add(kPath, bytes);
    const Cached cached(files);
    const Texts found = cached.read(1, {.serial = true});
    EXPECT_TRUE(found == numbers(10) || found == Texts{"x"}) << "byte " << place;  // the latter of another version
    files->add(kPath, whole.substr(0, place));
    EXPECT_EQ(Cached(files).read(2, {.serial = true}), times(numbers(10), 2)) << "cut at " << place;
    EXPECT_EQ(files->bytes_of(kPath), whole) << "written anew";
  }
  ::testing::internal::GetCapturedStderr();
}

// Several blocks, of which a later one is damaged: what came before it comes once.
TEST(FileCache, GoesOnWithItsInputWhereALaterBlockIsDamaged) {
  const auto files = std::make_shared<FakeFileSystem>();
  EXPECT_EQ(Cached(files, 40'000).read(), numbers(40'000));
  std::string bytes = files->bytes_of(kPath);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  files->add(kPath, bytes);
  const Cached cached(files, 40'000);
  EXPECT_EQ(cached.read(3), times(numbers(40'000), 3));
  EXPECT_EQ(cached.made(), 80'000) << "the damaged pass, and one that is written";
}

TEST(FileCache, BearsAnyBytes) {
  const auto files = std::make_shared<FakeFileSystem>();
  EXPECT_EQ(Cached(files).read(), numbers(10));
  const std::string whole = files->bytes_of(kPath);
  const detail::TypedElementCodec<std::string> codec;
  test::Random random(11);
  for (std::int64_t round = test::how_many(10'000); round > 0; --round) {
    std::string bytes = whole;
    for (std::int64_t changes = random.between(1, 6); changes > 0; --changes) {
      const auto place = static_cast<std::size_t>(random.below(std::ssize(bytes)));
      if (random.one_in(4)) bytes.erase(place, static_cast<std::size_t>(random.between(1, 9)));
      if (place < bytes.size()) bytes[place] = static_cast<char>(random.below(256));
    }
    files->add(kPath, bytes);
    try {
      ops::CacheFileReader reader(ops::CacheFile::open(*files, kPath, typeid(std::string)).value());
      for (std::int64_t i = 0; const auto slot = reader.next(codec); ++i)
        ASSERT_EQ(std::as_const(slot->value).get<std::string>(), std::to_string(i));
    } catch (const Error&) {
    }
  }
}

// ------------------------------------------------------------------------------------------------ kill -9

void write_file(const std::string& path) {
  const detail::TypedElementCodec<std::string> codec;
  ops::CacheFileWriter writer(*io::local_file_system(), path, typeid(std::string), 0);
  for (const std::string& text : numbers(20'000)) writer.add(Slot(Element(text), {}), codec);
  writer.publish();
}
[[noreturn]] void write_for_ever(const std::string& path) {
  for (;;) write_file(path);
}

TEST(FileCache, IsWholeOrNotThereWhenItsWriterIsKilled) {
  test::TemporaryFolder folder;
  const auto path = (folder.path() / "cache").string();
  const detail::TypedElementCodec<std::string> codec;
  test::Random random(3);
  int found = 0;
  write_file(path);
  const std::int64_t rounds = test::how_many(20);
  for (std::int64_t round = 0; round < rounds; ++round) {
    if (round % 2 == 1) std::filesystem::remove(path);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_for_ever(path);
    ::usleep(static_cast<useconds_t>(random.below(30'000)));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    auto file = ops::CacheFile::open(*io::local_file_system(), path, typeid(std::string));
    if (!file) continue;
    ++found;
    ops::CacheFileReader reader(std::move(*file));
    std::int64_t read = 0;
    for (; auto slot = reader.next(codec); ++read) ASSERT_EQ(slot->value.get<std::string>(), std::to_string(read));
    EXPECT_EQ(read, 20'000);
  }
  EXPECT_GT(found, 0);
  const Cached after(path);
  std::filesystem::remove(path);
  EXPECT_EQ(after.read(2), times(numbers(10), 2));
  EXPECT_EQ(after.made(), 10) << "what a killed writer has left is in nobody's way";
}

TEST(FileCache, IsWrittenByOneOwnerAlone) {
  test::TemporaryFolder folder;
  const auto path = (folder.path() / "cache").string();
  const auto files = io::local_file_system();
  auto first = files->create(path);
  ASSERT_EQ(first.error, 0);
  EXPECT_EQ(files->create(path).error, EWOULDBLOCK);
  ASSERT_EQ(first.value->publish(), 0);
  auto second = files->create(path);
  ASSERT_EQ(second.error, 0) << "the first has another name now";
  first.value.reset();
  EXPECT_TRUE(std::filesystem::exists(path + ".part"));
  second.value.reset();
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
  EXPECT_TRUE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace penstock
