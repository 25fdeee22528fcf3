#include "ops/io/read_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/io.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/expect_error.h"
#include "tests/support/heap_bytes.h"

namespace penstock {
namespace {

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class ReadFile : public testing::Test {
 protected:
  ReadFile() : folder_(testing::TempDir() + "penstock_read_file_test" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~ReadFile() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& text) const {
    std::string path = folder_ + "/file";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::string folder_;
};

TEST_F(ReadFile, GivesAllBytes) {
  std::string text("\0\xff text\n", 8);
  text.append(300'000, 'x');
  const Tensor tensor = read_file(file(text));
  EXPECT_EQ(tensor.dtype(), DType::u8);
  EXPECT_EQ(tensor.shape(), (Shape{300'008}));
  EXPECT_EQ(text_of({tensor.data(), tensor.bytes()}), text);
}

TEST_F(ReadFile, EmptyFileIsAnEmptyTensor) {
  EXPECT_EQ(read_file(file("")).shape(), (Shape{0}));
  ByteBuffer buffer;
  EXPECT_TRUE(read_file(file(""), buffer).empty());
}

TEST_F(ReadFile, BufferGrowsAndStays) {
  ByteBuffer buffer;
  EXPECT_EQ(text_of(read_file(file(std::string(1000, 'a')), buffer)), std::string(1000, 'a'));
  const std::byte* memory = buffer.data();
  EXPECT_EQ(text_of(read_file(file("short"), buffer)), "short");
  EXPECT_EQ(buffer.data(), memory);
  EXPECT_GE(buffer.capacity(), 1000U);
}

// The kernel says that files in /proc have no bytes.
TEST_F(ReadFile, FilesWithoutASizeAreReadToTheirEnd) {
  if (!std::filesystem::exists("/proc/self/status")) GTEST_SKIP() << "no /proc here";
  const Tensor tensor = read_file("/proc/self/status");
  EXPECT_THAT(text_of({tensor.data(), tensor.bytes()}), testing::HasSubstr("Pid:"));
}

TEST_F(ReadFile, MissingFileIsNotFound) {
  const std::string path = folder_ + "/none";
  EXPECT_ERROR(read_file(path), ErrorCode::not_found,
               "cannot open '" + path + "': No such file or directory");
  EXPECT_ERROR(read_file(file("x") + "/below"), ErrorCode::not_found, "Not a directory");
  EXPECT_ERROR(read_file(""), ErrorCode::not_found, "''");
}

TEST_F(ReadFile, FileThatMayBeMissingIsNothingOrItsBytes) {
  EXPECT_FALSE(read_file_if_there(folder_ + "/none").has_value());
  EXPECT_FALSE(read_file_if_there(file("x") + "/below").has_value());
  const auto tensor = read_file_if_there(file("abc"));
  ASSERT_TRUE(tensor.has_value());
  EXPECT_EQ(text_of({tensor->data(), tensor->bytes()}), "abc");
  EXPECT_ERROR(read_file_if_there(folder_), ErrorCode::invalid_argument, "Is a directory");
}

TEST_F(ReadFile, FoldersPipesAndDevicesAreRefused) {
  EXPECT_ERROR(read_file(folder_), ErrorCode::invalid_argument, "Is a directory");
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_ERROR(read_file(pipe), ErrorCode::invalid_argument, "not a regular file");
  EXPECT_ERROR(read_file("/dev/zero"), ErrorCode::invalid_argument, "not a regular file");
}

TEST_F(ReadFile, PathsThatCannotBeAreRefused) {
  EXPECT_ERROR(read_file(std::string("a\0b", 3)), ErrorCode::invalid_argument, "contains a NUL");
  EXPECT_ERROR(read_file(std::string(5000, 'a')), ErrorCode::invalid_argument, "too long");
}

TEST_F(ReadFile, LockedFileIsPermissionDenied) {
  constexpr uid_t nobody = 65534;
  const std::string path = file("x");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  const bool root = ::geteuid() == 0;  // who may read everything
  if (root && ::seteuid(nobody) != 0) GTEST_SKIP() << "root, and cannot become anybody else";
  EXPECT_ERROR(read_file(path), ErrorCode::permission_denied, "Permission denied");
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
}

TEST_F(ReadFile, TooManyOpenFilesAreResourceExhausted) {
  const std::string path = file("x");
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  rlimit none = old;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_ERROR(read_file(path), ErrorCode::resource_exhausted, "ulimit -n");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  EXPECT_EQ(read_file(path).size(), 1);
}

TEST_F(ReadFile, FilesAboveTheLimitAreRefused) {
  const std::string path = file("12345");
  EXPECT_ERROR(read_file(path, {.max_bytes = 4}), ErrorCode::resource_exhausted, "the limit is 4");
  EXPECT_EQ(read_file(path, {.max_bytes = 5}).size(), 5);
}

TEST_F(ReadFile, LargeFilesLeaveNoBufferBehind) {
  const std::string path = file("");
  std::filesystem::resize_file(path, 40 << 20);
  const std::size_t before = test::heap_bytes();
  EXPECT_EQ(read_file(path).size(), 40 << 20);
  EXPECT_LT(test::heap_bytes(), before + (16 << 20));
}

// A file that gives one prepared answer after the other: text, an errno value, or the end.
class Played {
 public:
  explicit Played(std::vector<std::string> answers) : answers_(std::move(answers)) {}

  std::string read(std::size_t expected, const ReadFileOptions& options = {}) {
    const auto read_some = [this](void* to, std::size_t n) { return next(to, n); };
    ByteBuffer buffer;
    const std::size_t got = detail::read_to_end(read_some, expected, "f", options, buffer);
    return text_of({buffer.data(), got});
  }

 private:
  ssize_t next(void* to, std::size_t n) {
    if (at_ == answers_.size()) return 0;
    const std::string& answer = answers_[at_++];
    if (answer == "EINTR" || answer == "EIO") {
      errno = answer == "EIO" ? EIO : EINTR;
      return -1;
    }
    const std::size_t count = std::min(n, answer.size());
    std::memcpy(to, answer.data(), count);
    if (count < answer.size()) answers_[--at_] = answer.substr(count);
    return static_cast<ssize_t>(count);
  }

  std::vector<std::string> answers_;
  std::size_t at_ = 0;
};

TEST(ReadToEnd, InterruptedAndShortReadsGoOn) {
  EXPECT_EQ(Played({"ab", "EINTR", "c", "EINTR", "EINTR", "def"}).read(6), "abcdef");
}

TEST(ReadToEnd, GrownFileIsReadToItsNewEnd) {
  const std::string more(10'000, 'x');
  EXPECT_EQ(Played({"abc", more, "y"}).read(3), "abc" + more + "y");
}

TEST(ReadToEnd, EndlesslyGrowingFileStopsAtTheLimit) {
  EXPECT_ERROR(Played(std::vector<std::string>(100, "0123456789")).read(10, {.max_bytes = 500}),
               ErrorCode::resource_exhausted, "or more, the limit is 500");
}

TEST(ReadToEnd, ShrunkFileMayWorkLater) {
  EXPECT_ERROR(Played({"abc"}).read(10), ErrorCode::unavailable, "shrank from 10 to 3 bytes");
}

TEST(ReadToEnd, FaultsOfTheDiskMayWorkLater) {
  EXPECT_ERROR(Played({"abc", "EIO"}).read(10), ErrorCode::unavailable, "cannot read 'f': ");
}

// What open_with_patience makes of some answers of open(2): the descriptor or the errno value, then how long it waited.
std::vector<std::int64_t> opened(std::vector<int> answers) {
  std::vector<std::int64_t> result;
  std::size_t at = 0;
  const auto open_file = [&] {
    const int answer = answers[std::min(at++, answers.size() - 1)];
    if (answer >= 0) return answer;
    errno = -answer;
    return -1;
  };
  const int number = detail::open_with_patience(open_file, [&](std::chrono::milliseconds time) { result.push_back(time.count()); });
  result.insert(result.begin(), number >= 0 ? number : -errno);
  return result;
}

TEST(OpenWithPatience, WaitsForDescriptors) {
  EXPECT_THAT(opened({7}), testing::ElementsAre(7));
  EXPECT_THAT(opened({-EMFILE, -ENFILE, -EINTR, -EMFILE, 7}), testing::ElementsAre(7, 1, 2, 4));
  EXPECT_THAT(opened({-EMFILE}), testing::ElementsAre(-EMFILE, 1, 2, 4, 8, 16, 32, 64, 128));
}

TEST(OpenWithPatience, GivesUpAtOnceWhereWaitingIsInVain) {
  EXPECT_THAT(opened({-ENOENT, 7}), testing::ElementsAre(-ENOENT));
  EXPECT_THAT(opened({-EIO, 7}), testing::ElementsAre(-EIO));
}

// A file that is written to the first `writes` times that it is read.
struct Busy {
  int writes;
  detail::FileVersion version{.size = 3, .written_ns = 0};
  int reads = 0, waits = 0;

  std::size_t read() {
    const auto look = [this] { return version; };
    const auto read = [this](std::size_t expected) {
      if (reads++ < writes) version.written_ns += 1;
      return expected;
    };
    return detail::read_in_one_piece(look, read, "f", [this](std::chrono::milliseconds) { ++waits; });
  }
};

TEST(ReadInOnePiece, ReadsOnceWhatNobodyWrites) {
  Busy file{.writes = 0};
  EXPECT_EQ(file.read(), 3U);
  EXPECT_EQ(file.reads, 1);
  EXPECT_EQ(file.waits, 0);
}

TEST(ReadInOnePiece, ReadsAnewWhatWasWrittenMeanwhile) {
  Busy file{.writes = 2};
  EXPECT_EQ(file.read(), 3U);
  EXPECT_EQ(file.reads, 3);
  EXPECT_EQ(file.waits, 2);
}

TEST_F(ReadFile, SeesAChangeWithinASecond) {
  const int descriptor = ::open(file("text").c_str(), O_RDONLY);
  ASSERT_GE(descriptor, 0);
  const auto version_at = [&](std::int64_t written_ns) {
    const timespec written{.tv_sec = 1'000'000'000, .tv_nsec = written_ns};
    const timespec times[] = {written, written};
    EXPECT_EQ(::futimens(descriptor, times), 0);
    return detail::version_of(descriptor, "file");
  };
  EXPECT_EQ(version_at(20'000'000), version_at(20'000'000));
  EXPECT_NE(version_at(20'000'000), version_at(40'000'000));
  ::close(descriptor);
}

TEST(ReadInOnePiece, GivesUpWhereWritingDoesNotEnd) {
  EXPECT_ERROR(Busy{.writes = 100}.read(), ErrorCode::unavailable, "'f': it changed while it was read, 3 times");
}

}  // namespace
}  // namespace penstock
