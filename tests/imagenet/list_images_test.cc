#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/imagenet.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/expect_error.h"
#include "tests/support/pictures/sample_set.h"

namespace penstock::imagenet {
namespace {

using pictures::SampleSet;

TEST(ListImages, WalksFoldersAndSorts) {
  const SampleSet set(7);
  EXPECT_EQ(list_images(set.images()), set.paths());
}

TEST(ListImages, TakesFilesByTheirExtension) {
  const SampleSet set(0);
  for (const char* name : {"b.jpg", "a.JPEG", "c.jpeg", "d.JPG", "d.png", "e.xml", "JPEG", "f.jpg.txt"})
    SampleSet::write(set.folder() / name, "x");
  std::filesystem::create_directories(set.folder() / "folder.jpg");
  EXPECT_THAT(list_images(set.folder().string()),
              ::testing::ElementsAre(::testing::EndsWith("/a.JPEG"), ::testing::EndsWith("/b.jpg"),
                                     ::testing::EndsWith("/c.jpeg"), ::testing::EndsWith("/d.JPG")));
}

TEST(ListImages, NamesAFileThatIsNoFolder) {
  const SampleSet set(1);
  EXPECT_ERROR(list_images(set.paths()[0]), ErrorCode::not_found, "Not a directory");
}

TEST(ListImages, NamesAFolderThatIsMissingOrEmpty) {
  const SampleSet set(0);
  EXPECT_ERROR(list_images((set.folder() / "nowhere").string()), ErrorCode::not_found, "nowhere");
  EXPECT_ERROR(list_images(set.folder().string()), ErrorCode::not_found, "there are no *.jpeg");
}

TEST(ListImages, RefusesALinkBackToAFolderThatItLiesIn) {
  const SampleSet set(3);
  const auto link = set.folder() / "Data" / "back";
  std::filesystem::create_directory_symlink("..", link);
  EXPECT_ERROR(list_images(set.images()), ErrorCode::invalid_argument, link.string());
}

TEST(ListImages, RefusesLinksThatLeadInACircle) {
  const SampleSet set(3);
  const auto data = set.folder() / "Data";
  for (const char* name : {"a", "b"}) std::filesystem::create_directory(data / name);
  std::filesystem::create_directory_symlink("../b", data / "a" / "to_b");
  std::filesystem::create_directory_symlink("../a", data / "b" / "to_a");
  EXPECT_ERROR(list_images(set.images()), ErrorCode::invalid_argument, "leads back");
}

TEST(ListImages, FollowsLinksToOtherFolders) {
  const SampleSet set(3), other(2);
  std::filesystem::create_directory_symlink(other.images(), set.folder() / "Data" / "other");
  EXPECT_EQ(list_images(set.images()).size(), 5u);
}

TEST(ListImages, ListsALinkToItselfWhichLoadingWillRefuse) {
  const SampleSet set(3);
  std::filesystem::create_symlink("a.JPEG", set.folder() / "Data" / "a.JPEG");
  EXPECT_EQ(list_images(set.images()).size(), 4u);
}

TEST(LabelsOf, AreTheClassesInSortedOrder) {
  const SampleSet set(7);
  std::vector<std::string> paths = set.paths();
  std::reverse(paths.begin(), paths.end());
  const LabelTable labels = labels_of(paths);
  ASSERT_EQ(labels.size(), 3);
  EXPECT_EQ(labels.name(0), "n00000000");
  EXPECT_EQ(labels.name(2), "n00000002");
}

TEST(LabelsOf, LeavesOutFilesWithoutOne) {
  const std::vector<std::string> paths{"/somewhere/raccoon.jpg"};
  EXPECT_EQ(labels_of(paths).size(), 0);
}

}  // namespace
}  // namespace penstock::imagenet
