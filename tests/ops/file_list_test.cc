#include "ops/file_list.h"

#include <penstock/ops.h>
#include <penstock/sources.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lib/graph/node.h"
#include "tests/support/expect_error.h"
#include "tests/support/fake_file_system.h"

namespace penstock {
namespace {

using ops::parse_file_list;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FileList : public ::testing::Test {
 protected:
  FileList() : folder_(std::filesystem::path(::testing::TempDir()) / test_name()) {
    std::filesystem::create_directories(folder_);
  }
  ~FileList() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string in_folder(const std::string& name) const { return (folder_ / name).string(); }

 private:
  static std::string test_name() {
    return std::string("file_list_") + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  std::filesystem::path folder_;
};

std::vector<std::string> paths_of(const Dataset<std::string>& dataset) {
  const IndexedSource& source = *dynamic_cast<const SourceOp&>(dataset.node()->op()).indexed();
  std::vector<std::string> paths;
  for (std::int64_t i = 0; i < source.size(); ++i) paths.push_back(source.at(i).take<std::string>());
  return paths;
}

TEST(FileListText, HasOnePathALine) {
  EXPECT_THAT(parse_file_list("b.jpg\na.jpg\n", ""), ElementsAre("b.jpg", "a.jpg"));
  EXPECT_THAT(parse_file_list("b.jpg\na.jpg", ""), ElementsAre("b.jpg", "a.jpg"));
  EXPECT_THAT(parse_file_list("a.jpg\na.jpg", ""), ElementsAre("a.jpg", "a.jpg"));
}

TEST(FileListText, MayHaveWhiteSpaceAndBlankLines) {
  EXPECT_THAT(parse_file_list("\n \t a b.jpg\t\r\n\r\n \v\f\n\n c.jpg ", ""), ElementsAre("a b.jpg", "c.jpg"));
  EXPECT_THAT(parse_file_list("", ""), IsEmpty());
  EXPECT_THAT(parse_file_list(" \n\n\t", ""), IsEmpty());
}

TEST(FileListText, NamesRelativePathsFromItsOwnFolder) {
  EXPECT_THAT(parse_file_list("a.jpg\n../b.jpg\n/c.jpg", "train"),
              ElementsAre("train/a.jpg", "train/../b.jpg", "/c.jpg"));
  EXPECT_THAT(parse_file_list("a.jpg", "/data"), ElementsAre("/data/a.jpg"));
}

TEST(FileListText, MayHoldAnyBytes) {
  const std::string line = "\x01\xff\xc3\xa4.jpg";
  EXPECT_THAT(parse_file_list(line + "\n", ""), ElementsAre(line));
}

TEST_F(FileList, BecomesADatasetInTheListsOrder) {
  const auto dataset = from_file_list(write("train.txt", "c.jpg\na.jpg\nb.jpg\n"));
  EXPECT_THAT(paths_of(dataset), ElementsAre(in_folder("c.jpg"), in_folder("a.jpg"), in_folder("b.jpg")));
  EXPECT_EQ(dataset.cardinality(), 3);
}

TEST_F(FileList, MayBeNamedFromWhereTheProgramIs) {
  const auto relative = [](const std::string& path) { return std::filesystem::relative(path).string(); };
  EXPECT_THAT(paths_of(from_file_list(relative(write("train.txt", "a.jpg\n")))),
              ElementsAre(relative(in_folder("a.jpg"))));
}

TEST_F(FileList, NamesEachElementByItsPath) {
  const auto dataset = from_file_list(write("train.txt", "a.jpg\n"));
  EXPECT_EQ(dynamic_cast<const SourceOp&>(dataset.node()->op()).indexed()->origin(0), in_folder("a.jpg"));
}

TEST_F(FileList, IsPrintedWithItsNumberOfFiles) {
  const std::string two = write("two.txt", "a\nb\n");
  EXPECT_THAT(describe(from_file_list(two)), ::testing::HasSubstr(two + ", 2 files "));
  const std::string one = write("one.txt", "a\n");
  EXPECT_THAT(describe(from_file_list(one)), ::testing::HasSubstr(one + ", 1 file "));
}

TEST_F(FileList, IsComparedByTheNamesInIt) {
  const std::vector<std::string> names{"a", "b"};
  const std::string list = write("two.txt", "a\n\n b\n");
  EXPECT_EQ(graph::pipeline_text(from_file_list(list).node()),
            "0 from_file_list(2 elements, digest=" + detail::digest_of(names) + ")\n")
      << "wherever it lies";
}

TEST_F(FileList, MustNotBeEmpty) {
  const std::string path = write("empty.txt", " \n\n");
  EXPECT_ERROR(ops::file_list(path), ErrorCode::invalid_argument, "'" + path + "' names no files");
  EXPECT_THROW(from_file_list(path), GraphError);
}

TEST_F(FileList, MustExist) {
  const std::string path = in_folder("missing.txt");
  EXPECT_ERROR(ops::file_list(path), ErrorCode::not_found, path);
  EXPECT_ERROR(from_file_list(path, {"train.cc", 3}), ErrorCode::invalid_argument, "(op 0 of the chain, train.cc:3)");
}

TEST_F(FileList, MustNotBeAFolder) {
  EXPECT_ERROR(ops::file_list(in_folder("")), ErrorCode::invalid_argument, in_folder(""));
}

// Half a list would be half an epoch.
TEST(FileListOnABadDisk, IsAnErrorAndNeverPartOfTheList) {
  test::FakeFileSystem files;
  files.add("/d/list", "a.jpg\nb.jpg\n");
  files.fail("/d/list", {.at_once = 1});
  EXPECT_EQ(ops::file_list(files, "/d/list")->parameters(), "/d/list, 2 files");
  files.fail("/d/list", {.read = EIO, .after = 6});
  EXPECT_ERROR(ops::file_list(files, "/d/list"), ErrorCode::unavailable, "cannot read '/d/list': Input/output error");
  files.fail("/d/list", {.half_way = [&] { files.overwrite("/d/list", "a.jpg\n"); }});
  EXPECT_ERROR(ops::file_list(files, "/d/list"), ErrorCode::unavailable, "'/d/list': it shrank");
}

}  // namespace
}  // namespace penstock
