// What read_file() and file_paths() make of a file system that fails, as test::FakeFileSystem plays it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "ops/io/list_files.h"
#include "ops/io/read_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/fake_file_system.h"

namespace penstock::io {
namespace {

using test::FakeFileSystem;
using test::Faults;
using ::testing::ElementsAre;

std::string read(const FakeFileSystem& files, const ReadFileOptions& options = {}) {
  const Tensor bytes = read_file(files, "/d/f", options);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.bytes()};
}

// What becomes of a file with this fault.
std::string read(const std::string& bytes, Faults faults) {
  FakeFileSystem files;
  files.add("/d/f", bytes);
  files.fail("/d/f", std::move(faults));
  return read(files);
}

std::vector<std::string> pauses(const FakeFileSystem& files) {
  std::vector<std::string> found;
  for (const std::string& call : files.calls())
    if (call.starts_with("pause ")) found.push_back(call);
  return found;
}

// A network file system answers each of them in a millisecond.
TEST(FileFaults, AFileTakesNoMoreCallsThanItMust) {
  FakeFileSystem files;
  files.add("/d/f", "abc");
  EXPECT_EQ(read(files), "abc");
  EXPECT_THAT(files.calls(), ElementsAre("open /d/f", "status", "read", "read", "status", "close"));
}

TEST(FileFaults, AFileThatMayBeMissingTakesOneCall) {
  const FakeFileSystem files;
  EXPECT_FALSE(read_file_if_there(files, "/d/f").has_value());
  EXPECT_THAT(files.calls(), ElementsAre("open /d/f"));
}

TEST(FileFaults, EachReasonForNotOpeningHasItsCodeAndItsAdvice) {
  const struct {
    int error;
    ErrorCode code;
    const char* advice;
  } reasons[] = {
      {ENOENT, ErrorCode::not_found, "(check the path)"},
      {ENOTDIR, ErrorCode::not_found, "(check the path)"},
      {EACCES, ErrorCode::permission_denied, "(let this user read the file"},
      {EPERM, ErrorCode::permission_denied, "(let this user read the file"},
      {EMFILE, ErrorCode::resource_exhausted, "ulimit -n"},
      {ENFILE, ErrorCode::resource_exhausted, ": Too many open files in system"},
      {ENOMEM, ErrorCode::resource_exhausted, ": Cannot allocate memory"},
      {EIO, ErrorCode::unavailable, "(a fault of the disk or network file system"},
      {ESTALE, ErrorCode::unavailable, "(a fault of the disk or network file system"},
      {EISDIR, ErrorCode::invalid_argument, "(it is a folder: give a file)"},
      {ELOOP, ErrorCode::invalid_argument, "(its links lead in a circle)"},
      {ENAMETOOLONG, ErrorCode::invalid_argument, "(is it a list of paths without line ends?)"},
      {ETIMEDOUT, ErrorCode::deadline, ": Connection timed out"},
      {EXDEV, ErrorCode::unavailable, ": Invalid cross-device link"},  // any that says nothing in general
  };
  for (const auto& [error, code, advice] : reasons) {
    const std::string reason = "cannot open '/d/f': " + std::generic_category().message(error);
    EXPECT_ERROR(read("abc", {.open = error}), code, reason);
    EXPECT_ERROR(read("abc", {.open = error}), code, advice);
  }
}

TEST(FileFaults, AFileThatMayBeMissingIsNothingOnlyWhereItIsMissing) {
  for (const int error : {ENOENT, ENOTDIR, EACCES, EMFILE, EIO}) {
    FakeFileSystem files;
    files.add("/d/f", "abc");
    files.fail("/d/f", {.open = error});
    if (error == ENOENT || error == ENOTDIR)
      EXPECT_FALSE(read_file_if_there(files, "/d/f").has_value());
    else
      EXPECT_THROW(read_file_if_there(files, "/d/f"), Error) << error;
  }
}

TEST(FileFaults, AnInterruptedCallIsMadeAgain) {
  EXPECT_EQ(read("abcdef", {.open = EINTR, .times = 3}), "abcdef");
  EXPECT_EQ(read("abcdef", {.read = EINTR, .times = 3, .after = 2}), "abcdef");
}

TEST(FileFaults, ShortReadsGoOn) { EXPECT_EQ(read("abcdefg", {.at_once = 2}), "abcdefg"); }

TEST(FileFaults, WhereDescriptorsAreShortItWaitsForSome) {
  for (const int error : {EMFILE, ENFILE}) {
    FakeFileSystem files;
    files.add("/d/f", "abc");
    files.fail("/d/f", {.open = error, .times = 3});
    EXPECT_EQ(read(files), "abc");
    EXPECT_THAT(pauses(files), ElementsAre("pause 1", "pause 2", "pause 4"));
    files.fail("/d/f", {.open = error});
    EXPECT_ERROR(read(files), ErrorCode::resource_exhausted, "cannot open");
    EXPECT_EQ(pauses(files).size(), 3U + 8U) << "a quarter of a second";
    EXPECT_EQ(pauses(files).back(), "pause 128");
  }
}

TEST(FileFaults, NothingIsTriedAgainWhereWaitingIsInVain) {
  for (const int error : {ENOENT, EACCES, EIO}) {
    FakeFileSystem files;
    files.fail("/d/f", {.open = error, .times = 1});
    EXPECT_THROW(read(files), Error);
    EXPECT_THAT(files.calls(), ElementsAre("open /d/f"));
  }
}

TEST(FileFaults, AFaultOfTheDiskSaysWhatItWasAbout) {
  EXPECT_ERROR(read("abcdef", {.status = EIO}), ErrorCode::unavailable,
               "cannot inspect '/d/f': Input/output error (a fault of the disk");
  EXPECT_ERROR(read("abcdef", {.read = EIO}), ErrorCode::unavailable,
               "cannot read '/d/f': Input/output error (a fault of the disk");
  EXPECT_ERROR(read("abcdef", {.read = ESTALE, .after = 4}), ErrorCode::unavailable,
               "cannot read '/d/f': Stale file handle");
}

TEST(FileFaults, AFileThatFailsIsClosed) {
  for (const Faults& faults : {Faults{.status = EIO}, Faults{.read = EIO}, Faults{.read = EIO, .after = 2}}) {
    FakeFileSystem files;
    files.add("/d/f", "abc");
    files.fail("/d/f", faults);
    EXPECT_THROW(read(files), Error);
    EXPECT_EQ(files.calls().back(), "close");
  }
}

TEST(FileFaults, WhatIsNoFileIsRefused) {
  FakeFileSystem files;
  files.add("/d/f", FileKind::folder);
  EXPECT_ERROR(read(files), ErrorCode::invalid_argument, "Is a directory");
  files.add("/d/f", FileKind::other);
  EXPECT_ERROR(read(files), ErrorCode::invalid_argument, "not a regular file");
}

TEST(FileFaults, AFileThatGrowsIsReadToItsNewEnd) {
  FakeFileSystem files;
  const std::string more(10'000, 'x');
  files.add("/d/f", "abc");
  int left = 1;
  files.fail("/d/f", {.half_way = [&] {
               if (left-- > 0) files.overwrite("/d/f", "abc" + more);
             }});
  EXPECT_EQ(read(files), "abc" + more);
}

TEST(FileFaults, AFileThatGrowsWithoutEndStopsAtTheLimit) {
  FakeFileSystem files;
  files.add("/d/f", std::string(10, 'x'));
  files.fail("/d/f", {.half_way = [&] { files.overwrite("/d/f", std::string(501, 'x')); }});
  EXPECT_ERROR(read(files, {.max_bytes = 500}), ErrorCode::resource_exhausted, "or more, the limit is 500");
}

TEST(FileFaults, AFileThatShrinksMayWorkLater) {
  FakeFileSystem files;
  files.add("/d/f", "abcdefghij");
  files.fail("/d/f", {.half_way = [&] { files.overwrite("/d/f", "abc"); }});
  EXPECT_ERROR(read(files), ErrorCode::unavailable, "shrank from 10 to 5 bytes");
}

TEST(FileFaults, AFileThatIsWrittenMeanwhileIsReadAnew) {
  FakeFileSystem files;
  files.add("/d/f", "old contents");
  int left = 2;
  files.fail("/d/f", {.half_way = [&] {
               if (left-- > 0) files.overwrite("/d/f", left > 0 ? "a new one..." : "the last one");
             }});
  EXPECT_EQ(read(files), "the last one");
  EXPECT_THAT(pauses(files), ElementsAre("pause 20", "pause 20"));
}

TEST(FileFaults, AFileThatIsWrittenAgainAndAgainIsGivenUp) {
  FakeFileSystem files;
  files.add("/d/f", "contents");
  files.fail("/d/f", {.half_way = [&] { files.overwrite("/d/f", "contents"); }});
  EXPECT_ERROR(read(files), ErrorCode::unavailable, "'/d/f': it changed while it was read, 3 times");
  EXPECT_EQ(pauses(files).size(), 2U);
}

TEST(FileFaults, AFileThatCannotBeReadAnewSaysSo) {
  FakeFileSystem files;
  files.add("/d/f", "contents");
  files.fail("/d/f", {.rewind = EIO, .half_way = [&] { files.overwrite("/d/f", "contents"); }});
  EXPECT_ERROR(read(files), ErrorCode::unavailable, "cannot read '/d/f': Input/output error");
}

TEST(FileFaults, AFileWhoseNameAnotherTakesIsReadToItsEnd) {
  FakeFileSystem files;
  files.add("/d/f", "old contents");
  files.fail("/d/f", {.half_way = [&] { files.add("/d/f", "new"); }});
  EXPECT_EQ(read(files), "old contents");
}

FakeFileSystem& with_tree(FakeFileSystem& files) {
  for (const char* path : {"/d/a.jpg", "/d/b/c.jpg", "/d/b/d.txt", "/d/e/f.JPG"}) files.add(path, "x");
  return files;
}

TEST(ListingFaults, EachFolderIsListedOnce) {
  FakeFileSystem files;
  EXPECT_THAT(file_paths(with_tree(files), "/d", {".jpg"}), ElementsAre("/d/a.jpg", "/d/b/c.jpg", "/d/e/f.JPG"));
  EXPECT_THAT(files.calls(), ElementsAre("real_path /d", "list /d", "list /d/b", "list /d/e"));
  EXPECT_THAT(folder_names(files, "/d"), ElementsAre("b", "e"));
}

TEST(ListingFaults, TheFolderThatFailsIsNamed) {
  for (const std::string folder : {"/d", "/d/b", "/d/e"}) {
    FakeFileSystem files;
    with_tree(files).fail(folder, {.list = EACCES});
    EXPECT_ERROR(
        file_paths(files, "/d"), ErrorCode::permission_denied,
        "cannot list the files in '" + folder + "': Permission denied; check the path and your right to read it");
  }
}

// Part of a list would pass for the whole.
TEST(ListingFaults, AFolderThatFailsHalfWayGivesNothing) {
  FakeFileSystem files;
  with_tree(files).fail("/d/b", {.list = EIO});
  EXPECT_ERROR(file_paths(files, "/d"), ErrorCode::unavailable, "'/d/b': Input/output error");
  EXPECT_ERROR(folder_names(files, "/d/b"), ErrorCode::unavailable, "'/d/b': Input/output error");
}

TEST(ListingFaults, AFolderThatWentIsNotFound) {
  FakeFileSystem files;
  EXPECT_ERROR(file_paths(files, "/d"), ErrorCode::not_found,
               "cannot list the files in '/d': No such file or directory");
  with_tree(files).fail("/d/b", {.list = ENOENT});
  EXPECT_ERROR(file_paths(files, "/d"), ErrorCode::not_found, "'/d/b': No such file or directory");
  files.fail("/d", {.real_path = EIO});
  EXPECT_ERROR(file_paths(files, "/d"), ErrorCode::unavailable, "'/d': Input/output error");
}

}  // namespace
}  // namespace penstock::io
