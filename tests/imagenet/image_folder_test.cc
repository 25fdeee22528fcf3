// Labels of the user's own, and folders as torchvision's ImageFolder takes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/imagenet.h>
#include <penstock/sources.h>

#include <filesystem>

#include "tests/support/examples.h"
#include "tests/support/expect_error.h"
#include "tests/support/pictures/sample_set.h"

namespace penstock::imagenet {
namespace {

using pictures::SampleSet;
using ::testing::ElementsAre;

class Folder : public ::testing::Test {
 protected:
  // Pictures of "cat", "dog" (one of them deeper) and "a dog", and one in the root.
  Folder() {
    int next = 0;
    for (const char* name : {"dog/1.jpg", "dog/more/2.JPG", "cat/1.jpeg", "a dog/1.jpg", "in the root.jpg"}) {
      const auto path = root() / name;
      std::filesystem::create_directories(path.parent_path());
      std::filesystem::copy_file(set_.paths().at(static_cast<std::size_t>(next++)), path);
    }
  }
  std::filesystem::path root() const { return set_.folder() / "photos"; }

  const SampleSet set_{5};
};

TEST_F(Folder, HasAClassForEachSubFolderInSortedOrder) {
  for (const std::string& root : {root().string(), root().string() + "/"}) {
    const ImageFolder found = image_folder(root);
    ASSERT_EQ(found.classes.size(), 3);
    EXPECT_EQ(found.classes.name(0), "a dog");
    EXPECT_EQ(found.classes.name(1), "cat");
    EXPECT_EQ(found.classes.name(2), "dog");
    std::vector<std::int32_t> labels;
    for (const std::string& path : found.paths) labels.push_back(found.label_of(path));
    EXPECT_THAT(labels, ElementsAre(0, 1, 2, 2)) << "not the one in the root";
  }
}

TEST_F(Folder, HasNoLabelForAPathThatIsElsewhere) {
  const ImageFolder found = image_folder(root().string());
  for (const std::string& path :
       {std::string("/other/dog/1.jpg"), root().string() + "s/dog/1.jpg", std::string("photos/dog/1.jpg")})
    EXPECT_ERROR(found.label_of(path), ErrorCode::invalid_argument,
                 "image_folder: '" + path + "' is not below '" + root().string() + "'");
}

TEST_F(Folder, GivesItsLabelsToExamples) {
  const ImageFolder found = image_folder(root().string());
  const Config config{.label_of = found.label_of, .size = {8, 8}, .shorter_side = 10};
  const auto paths = from_vector(found.paths);
  for (const auto& examples :
       {paths.apply(load_train(config)), paths.apply(load_eval(config)), paths.apply(load_crops(config)).unbatch()}) {
    std::vector<std::int32_t> labels;
    for (const Example& example : test::collect(examples)) labels.push_back(example.label);
    EXPECT_THAT(labels, ElementsAre(0, 1, 2, 2));
  }
}

TEST_F(Folder, HasPicturesInEachClass) {
  std::filesystem::create_directory(root() / "empty");
  EXPECT_ERROR(image_folder(root().string()), ErrorCode::not_found, "'empty'");
  EXPECT_ERROR(image_folder((root() / "cat").string()), ErrorCode::not_found, "holds no folders");
  EXPECT_ERROR(image_folder((root() / "nowhere").string()), ErrorCode::not_found, "nowhere");
}

TEST(LabelOf, TellsTheLabelOfAPathThatHasNone) {
  const SampleSet set(6);
  const auto number = [](const std::string& path) {
    return static_cast<std::int32_t>(path.at(path.size() - 6)) - '0';
  };  // n0000000i_10[N].JPEG
  const auto examples = test::collect(from_vector(set.paths()).apply(load_train({.label_of = number, .size = {8, 8}})));
  ASSERT_EQ(examples.size(), 6u);
  for (const Example& example : examples)
    EXPECT_EQ(example.label, number(set.paths()[static_cast<std::size_t>(example.file)]));
}

// No call to a network's file system for an annotation whose name nobody asks for.
TEST(LabelOf, LeavesAnnotationsUnread) {
  const SampleSet set(3);
  const auto nameless = set.folder() / "1.jpg";
  std::filesystem::copy_file(set.paths()[0], nameless);
  Config config{.label_of = [](const std::string&) { return 7; }, .size = {8, 8}, .annotations = set.folder().string()};
  SampleSet::write(set.folder() / "1.xml", "no XML");
  const auto examples = test::collect(from_vector(std::vector{nameless.string()}).apply(load_train(config)));
  ASSERT_EQ(examples.size(), 1u);
  EXPECT_EQ(examples[0].label, 7);
}

TEST(LabelOf, MakesAnErrorOfItsFileWhereItThrows) {
  const SampleSet set(3);
  const Config config{.label_of = [](const std::string&) -> std::int32_t { throw std::runtime_error("no such class"); },
                      .size = {8, 8}};
  auto run = from_vector(set.paths()).apply(load_train(config)).start();
  EXPECT_THROW(run.next(), ElementError);
}

}  // namespace
}  // namespace penstock::imagenet
