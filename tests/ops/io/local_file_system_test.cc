// The port on this machine's files: each call gives what the system gave.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ops/io/file_system.h"
#include "tests/support/file_contents.h"
#include "tests/support/temporary_folder.h"

namespace penstock::io {
namespace {

class LocalFileSystem : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string file(const std::string& text) const {
    std::ofstream(at("file"), std::ios::binary) << text;
    return at("file");
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename().string());
    return names;
  }

  const test::TemporaryFolder folder_;
  const FileSystem& files_ = *local_file_system();
};

std::string read_once(File& file, std::size_t most) {
  std::string text(most, '\0');
  const auto [count, error] = file.read(std::as_writable_bytes(std::span(text)));
  EXPECT_EQ(error, 0);
  return text.substr(0, count);
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST_F(LocalFileSystem, ReadsFromWhereItStopped) {
  const auto opened = files_.open(file("abcdef"));
  ASSERT_EQ(opened.error, 0);
  EXPECT_EQ(read_once(*opened.value, 4), "abcd");
  EXPECT_EQ(read_once(*opened.value, 4), "ef");
  EXPECT_EQ(read_once(*opened.value, 4), "");
  EXPECT_EQ(opened.value->rewind(), 0);
  EXPECT_EQ(read_once(*opened.value, 9), "abcdef");
}

TEST_F(LocalFileSystem, TellsTheNumbersOfErrors) {
  EXPECT_EQ(files_.open(at("none")).error, ENOENT);
  EXPECT_EQ(files_.open(file("x") + "/below").error, ENOTDIR);
  EXPECT_EQ(files_.status(at("none")).error, ENOENT);
  EXPECT_EQ(files_.list(at("none")).error, ENOENT);
  EXPECT_EQ(files_.list(at("file")).error, ENOTDIR);
  EXPECT_EQ(files_.real_path(at("none")).error, ENOENT);
  const auto folder = files_.open(folder_.path().string());
  ASSERT_EQ(folder.error, 0);
  std::byte byte{};
  EXPECT_EQ(folder.value->read({&byte, 1}).error, EISDIR);
}

TEST_F(LocalFileSystem, TellsWhatKindAFileIsOf) {
  EXPECT_EQ(files_.status(file("abc")).value.kind, FileKind::regular);
  EXPECT_EQ(files_.status(file("abc")).value.version.size, 3U);
  EXPECT_EQ(files_.status(folder_.path().string()).value.kind, FileKind::folder);
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(files_.status(at("pipe")).value.kind, FileKind::other);
  const auto pipe = files_.open(at("pipe"));  // does not wait for a writer
  ASSERT_EQ(pipe.error, 0);
  EXPECT_EQ(pipe.value->status().value.kind, FileKind::other);
}

TEST_F(LocalFileSystem, SeesAChangeWithinASecond) {
  const std::string path = file("text");
  const auto opened = files_.open(path);
  ASSERT_EQ(opened.error, 0);
  const auto version_at = [&](std::int64_t written_ns) {
    const timespec written{.tv_sec = 1'000'000'000, .tv_nsec = written_ns};
    const timespec times[] = {written, written};
    EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    return opened.value->status().value.version;
  };
  EXPECT_EQ(version_at(20'000'000), version_at(20'000'000));
  EXPECT_NE(version_at(20'000'000), version_at(40'000'000));
}

TEST_F(LocalFileSystem, ListsAFolderWithItsLinks) {
  std::filesystem::create_directory(at("folder"));
  std::ofstream(at("file")) << "x";
  std::filesystem::create_directory_symlink("folder", at("link"));
  std::filesystem::create_symlink("nowhere", at("broken"));
  auto listed = files_.list(folder_.path().string());
  ASSERT_EQ(listed.error, 0);
  std::vector<std::string> shown;
  for (const auto& entry : listed.value)
    shown.push_back(entry.name + (entry.is_folder ? " folder" : "") + (entry.is_link ? " link" : ""));
  EXPECT_THAT(shown, ::testing::UnorderedElementsAre("folder folder", "file", "link folder link", "broken link"));
  EXPECT_EQ(files_.real_path(at("link")).value, files_.real_path(at("folder")).value);
}

TEST_F(LocalFileSystem, ReplacesAFileAsAWhole) {
  const std::string path = file("old and longer");
  const auto before = files_.open(path);
  EXPECT_EQ(files_.replace(path, bytes_of("new")), 0);
  EXPECT_EQ(test::file_contents(path), "new");
  EXPECT_EQ(read_once(*before.value, 99), "old and longer") << "who has it open keeps it";
  EXPECT_EQ(names().size(), 1U);
}

TEST_F(LocalFileSystem, LeavesNothingBehindWhereItCannotReplace) {
  std::filesystem::create_directory(at("folder"));
  EXPECT_EQ(files_.replace(at("folder"), bytes_of("x")), EISDIR);
  EXPECT_EQ(files_.replace(at("none/file"), bytes_of("x")), ENOENT);
  EXPECT_THAT(names(), ::testing::ElementsAre("folder"));
}

// /proc gives the descriptors of this process.
TEST_F(LocalFileSystem, ClosesWhatItOpens) {
  const auto descriptors = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  if (!std::filesystem::exists("/proc/self/fd")) GTEST_SKIP() << "no /proc here";
  const auto before = descriptors();
  const std::string path = file("x");
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(files_.open(path).error, 0);
    EXPECT_EQ(files_.list(folder_.path().string()).error, 0);
    EXPECT_EQ(files_.replace(path, bytes_of("y")), 0);
  }
  EXPECT_EQ(descriptors(), before);
}

}  // namespace
}  // namespace penstock::io
