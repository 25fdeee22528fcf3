#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/labels.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

TEST(Label, FolderNamedByAWordNetIdWins) {
  EXPECT_EQ(label_in_path("/d/train/n01440764/n02000000_10026.JPEG"), "n01440764");
  EXPECT_EQ(label_in_path("n01440764/x.JPEG"), "n01440764");
}

TEST(Label, InAFlatFolderTheFileNameTells) {
  EXPECT_EQ(label_in_path("/d/imagenet/n01440764_tench.JPEG"), "n01440764");
  EXPECT_EQ(label_in_path("n01440764_10026.JPEG"), "n01440764");
}

TEST(Label, PathsThatTellNothingGiveNone) {
  for (const char* path :
       {"images/raccoon-3.jpg", "val/ILSVRC2012_val_00000001.JPEG", "", "/", "n01440764.JPEG", "n0144076/a.JPEG",
        "n014407645/a.JPEG", "N01440764/a.JPEG", "n0144076x/a.JPEG", "n01440764/sub/a.JPEG"})
    EXPECT_EQ(label_in_path(path), "") << path;
}

TEST(Label, FirstObjectOfTheAnnotationIsTheLastResort) {
  EXPECT_EQ(label_of_file("images/raccoon-3.jpg", "raccoon"), "raccoon");
  EXPECT_EQ(label_of_file("n01440764/x.JPEG", "raccoon"), "n01440764");
  EXPECT_ERROR(label_of_file("images/raccoon-3.jpg"), ErrorCode::not_found, "'images/raccoon-3.jpg' has no label");
}

TEST(LabelTable, IdsArePositionsOfSortedNames) {
  const LabelTable table = LabelTable::from_names({"n03", "n01", "n02", "n01"});
  EXPECT_EQ(table.size(), 3);
  EXPECT_EQ(table.id("n01"), 0);
  EXPECT_EQ(table.id("n03"), 2);
  EXPECT_EQ(table.name(1), "n02");
}

TEST(LabelTable, IdsOfAListAreItsLineNumbers) {
  const LabelTable table = LabelTable::from_lines("zebra\r\n  hot dog \nn01440764 tench, Tinca\n\n");
  EXPECT_EQ(table.size(), 3);
  EXPECT_EQ(table.id("zebra"), 0);
  EXPECT_EQ(table.id("hot dog"), 1);
  EXPECT_EQ(table.id("n01440764"), 2);
}

TEST(LabelTable, FileIsReadLikeAList) {
  const std::string path = ::testing::TempDir() + "penstock_labels_test" + std::to_string(::getpid());
  std::ofstream(path) << "b\na\n";
  EXPECT_EQ(LabelTable::from_file(path).id("a"), 1);
  std::ofstream(path) << "b\nb\n";
  EXPECT_ERROR(LabelTable::from_file(path), ErrorCode::invalid_argument, path);
  std::remove(path.c_str());
  EXPECT_ERROR(LabelTable::from_file(path), ErrorCode::not_found, path);
}

TEST(LabelTable, ListsWithBlankOrRepeatedLinesAreRefused) {
  const auto refused = [](const char* text, const char* part) {
    EXPECT_ERROR(LabelTable::from_lines(text, "l.txt"), ErrorCode::invalid_argument, part);
  };
  refused("a\n\nb\n", "'l.txt': line 2 is blank");
  refused("a\nb\na\n", "label 'a' stands in line 1 and again in line 3");
  refused("", "holds no labels");
  refused(" \n\n", "holds no labels");
}

TEST(LabelTable, UnknownLabelsAreErrorsOrNothing) {
  const LabelTable table = LabelTable::from_names({"a", "b"});
  EXPECT_ERROR(table.id("c"), ErrorCode::not_found, "label 'c' is not among the 2 known ones");
  EXPECT_EQ(table.find("c"), std::nullopt);
  EXPECT_EQ(table.find("b"), 1);
  EXPECT_EQ(LabelTable().find("a"), std::nullopt);
  EXPECT_EQ(LabelTable::from_names({}).size(), 0);
}

TEST(LabelTable, HashDependsOnNamesAndOrder) {
  const std::uint64_t hash = LabelTable::from_names({"b", "a"}).hash();
  EXPECT_EQ(hash, LabelTable::from_names({"a", "b"}).hash());
  EXPECT_EQ(hash, LabelTable::from_lines("a\nb").hash());
  EXPECT_NE(hash, LabelTable::from_lines("b\na").hash());
  EXPECT_NE(hash, LabelTable::from_names({"ab"}).hash());
  EXPECT_EQ(LabelTable().hash(), 0xcbf29ce484222325);
  EXPECT_EQ(LabelTable::from_lines("a").hash(), 0x89bdc07b544e7b2);  // computed apart
}

}  // namespace
}  // namespace penstock
