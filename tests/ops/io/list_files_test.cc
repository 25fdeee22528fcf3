// file_paths() and the dataset list_files().
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/io.h>
#include <penstock/sources.h>

#include <filesystem>
#include <fstream>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace penstock {
namespace {

using ::testing::ElementsAre;

class ListFiles : public ::testing::Test {
 protected:
  ListFiles() {
    for (const char* name : {"b.png", "a/z.PNG", "a/c/y.png", "a b/x.png", "a.jpg", "README", "png", "d.png.txt"}) {
      std::filesystem::create_directories((folder_.path() / name).parent_path());
      std::ofstream(folder_.path() / name) << "x";
    }
    std::filesystem::create_directories(folder_.path() / "folder.png");
  }
  std::string folder() const { return folder_.path().string(); }
  std::string at(const std::string& name) const { return folder() + "/" + name; }

 private:
  const test::TemporaryFolder folder_;
};

TEST_F(ListFiles, AreThoseWithTheExtensionSortedByTheirBytes) {
  EXPECT_THAT(file_paths(folder(), {".png"}),
              ElementsAre(at("a b/x.png"), at("a/c/y.png"), at("a/z.PNG"), at("b.png")));
  EXPECT_THAT(file_paths(folder(), {".JPG", ".txt"}), ElementsAre(at("a.jpg"), at("d.png.txt")));
}

TEST_F(ListFiles, AreAllWithoutExtensions) { EXPECT_EQ(file_paths(folder()).size(), 8u); }

TEST_F(ListFiles, LieInTheFolderItselfWhereItIsNotToGoDown) {
  EXPECT_THAT(file_paths(folder(), {".png"}, {.recursive = false}), ElementsAre(at("b.png")));
}

TEST_F(ListFiles, MayLieBehindLinks) {
  const test::TemporaryFolder other;
  std::ofstream(other.path() / "far.png") << "x";
  std::filesystem::create_directory_symlink(other.path(), at("link"));
  EXPECT_EQ(file_paths(folder(), {".png"}).size(), 5u);
  std::filesystem::create_directory_symlink("..", at("a/back"));
  EXPECT_ERROR(file_paths(folder(), {".png"}), ErrorCode::invalid_argument, "leads back");
  EXPECT_EQ(file_paths(folder(), {".png"}, {.recursive = false}).size(), 1u);
}

// Folders are walked in an order that is the file system's: some of the links come behind the folder that they lead to.
TEST_F(ListFiles, MayLieBehindLinksToAFolderThatWasWalkedBefore) {
  for (int i = 0; i < 10; ++i) std::filesystem::create_directory_symlink("a/c", at("link" + std::to_string(i)));
  EXPECT_EQ(file_paths(folder(), {".png"}).size(), 4u + 10u);
}

TEST_F(ListFiles, HaveAFolderThatIsThereAndHoldsSome) {
  EXPECT_ERROR(file_paths(at("nowhere")), ErrorCode::not_found, "cannot list the files in '" + at("nowhere") + "'");
  EXPECT_ERROR(file_paths(at("b.png")), ErrorCode::not_found, "Not a directory");
  EXPECT_ERROR(file_paths(at("folder.png"), {".png", ".bmp"}), ErrorCode::not_found, "there are no *.png, *.bmp in it");
  EXPECT_ERROR(file_paths(at("folder.png")), ErrorCode::not_found, "there are no files in it");
}

TEST_F(ListFiles, HaveExtensionsThatBeginWithADot) {
  EXPECT_ERROR(file_paths(folder(), {".jpg", "png"}), ErrorCode::invalid_argument, "'png'");
  EXPECT_ERROR(file_paths(folder(), {""}), ErrorCode::invalid_argument, "begins with a dot");
}

TEST_F(ListFiles, AreADatasetWhoseOrderIsTheLists) {
  std::vector<std::string> got;
  for (auto&& path : list_files(folder(), {".png"})) got.push_back(path);
  EXPECT_EQ(got, file_paths(folder(), {".png"}));
}

TEST_F(ListFiles, AreADatasetOfTheFolderItself) {
  EXPECT_EQ(list_files(folder(), {".png"}, {.recursive = false}).cardinality(), 1);
}

// By position, so that a shuffle reaches all of them and a shard reads nothing in vain.
TEST_F(ListFiles, AreShuffledAndShardedByPosition) {
  auto run = list_files(folder(), {".png"}).shuffle(2, {.seed = 1}).shard(2, 1).start({.serial = true});
  while (run.next()) {
  }
  EXPECT_EQ(run.snapshot().stages.size(), 1u);
}

TEST_F(ListFiles, OfAMissingFolderAreAGraphError) {
  try {
    list_files(at("nowhere"));
    ADD_FAILURE() << "no error";
  } catch (const GraphError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("nowhere"));
  }
}

}  // namespace
}  // namespace penstock
