// read_file() on this machine's files. What goes wrong while a file is read: file_faults_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/io.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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

class ReadFile : public ::testing::Test {
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
  EXPECT_THAT(text_of({tensor.data(), tensor.bytes()}), ::testing::HasSubstr("Pid:"));
}

TEST_F(ReadFile, MissingFileIsNotFound) {
  const std::string path = folder_ + "/none";
  EXPECT_ERROR(read_file(path), ErrorCode::not_found, "cannot open '" + path + "': No such file or directory");
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

}  // namespace
}  // namespace penstock
