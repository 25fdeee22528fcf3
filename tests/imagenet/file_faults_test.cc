// What the ImageNet pipelines make of a file system that fails: each fault by itself, on threads and serially. The
// faults are those of test::FakeFileSystem; those that need the system itself are played to the whole program in
// tests/faults.
//
// The oracle is a pipeline without faults over what the files then hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/imagenet.h>
#include <penstock/sources.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ops/imagenet/decode_op.h"
#include "ops/imagenet/read_op.h"
#include "tests/support/examples.h"
#include "tests/support/fake_file_system.h"
#include "tests/support/file_contents.h"
#include "tests/support/pictures/sample_set.h"

namespace penstock::imagenet {
namespace {

using test::FakeFileSystem;
using test::Faults;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kPictures = 40;
constexpr int every = 5;  // file of which one is hit, where not all are

bool is_hit(std::size_t file) { return file % every == 1; }

// What becomes of one file: its crops, or the text of its error.
struct Outcome {
  std::vector<Example> examples;
  std::string error;
};

class Pictures : public ::testing::TestWithParam<bool> {
 protected:
  Pictures() {
    for (const std::string& path : paths()) {
      files_->add(path, test::file_contents(path));
      if (std::filesystem::exists(set_.annotation_of(path)))
        files_->add(set_.annotation_of(path), test::file_contents(set_.annotation_of(path)));
    }
  }

  const std::vector<std::string>& paths() const { return set_.paths(); }
  std::string annotation_of(std::size_t file) const { return set_.annotation_of(paths()[file]); }

  // A fault of some files, or of all.
  void hit_some(const Faults& faults) {
    for (std::size_t i = 0; i < paths().size(); ++i)
      if (is_hit(i)) files_->fail(paths()[i], faults);
  }
  void hit_all(const Faults& faults) {
    for (const std::string& path : paths()) files_->fail(path, faults);
  }

  std::vector<Outcome> crops() {
    const auto files = from_vector(paths()).then<LoadedFile>(read_op(config_, Annotations::all, files_));
    return outcomes(files.then<std::vector<Example>>(crop_op(config_)));
  }
  std::vector<Outcome> centres() {
    const auto files =
        from_vector(paths()).then<LoadedFile>(read_op(config_, Annotations::where_path_has_no_label, files_));
    return outcomes(
        files.then<Example>(eval_op(config_)).map([](Example example) { return std::vector{std::move(example)}; }));
  }
  std::int64_t missing_annotations() const { return config_->counters->missing_annotations; }

  const std::shared_ptr<FakeFileSystem> files_ = std::make_shared<FakeFileSystem>();

 private:
  std::vector<Outcome> outcomes(const Dataset<std::vector<Example>>& dataset) {
    std::vector<Outcome> all;
    auto run = dataset.start({.threads = GetParam() ? 0 : 4, .serial = GetParam()});
    while (true) {
      try {
        auto examples = run.next();
        if (!examples) return all;
        all.push_back({std::move(*examples), {}});
      } catch (const ElementError& error) {
        all.push_back({{}, error.what()});
      }
    }
  }

  const pictures::SampleSet set_{kPictures};
  const std::shared_ptr<const Config> config_ =
      std::make_shared<const Config>(Config{.labels = labels_of(set_.paths()),
                                            .size = {16, 16},
                                            .dtype = DType::u8,
                                            .shorter_side = 20,
                                            .counters = std::make_shared<Counters>()});
};

// Where a file is hit its error has both parts; all others are as they were.
void expect_errors(const std::vector<Outcome>& got, const std::vector<Outcome>& before,
                   const std::vector<std::string>& named, const char* words) {
  ASSERT_EQ(got.size(), before.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE("file " + std::to_string(i));
    if (is_hit(i))
      EXPECT_THAT(got[i].error, AllOf(HasSubstr(words), HasSubstr(named[i])));
    else
      EXPECT_EQ(got[i].error, "");
    if (!is_hit(i)) test::expect_equal(got[i].examples, before[i].examples);
  }
}

void expect_same(const std::vector<Outcome>& got, const std::vector<Outcome>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE("file " + std::to_string(i));
    EXPECT_EQ(got[i].error, expected[i].error);
    test::expect_equal(got[i].examples, expected[i].examples);
  }
}

class FaultsOfPictures : public Pictures {};

TEST_P(FaultsOfPictures, ThatPassChangeNothing) {
  const auto before = centres();
  const auto a_while = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  for (const Faults& faults :
       {Faults{.at_once = 97}, Faults{.open = EINTR, .times = 3}, Faults{.read = EINTR, .times = 3, .after = 100},
        Faults{.open = EMFILE, .times = 3}, Faults{.open = ENFILE, .times = 1}, Faults{.half_way = a_while}}) {
    hit_all(faults);
    expect_same(centres(), before);
  }
}

TEST_P(FaultsOfPictures, ThatStayAreErrorsOfTheirFilesAlone) {
  const auto before = centres();
  const struct {
    Faults faults;
    const char* words;
  } cases[] = {
      {{.open = EMFILE}, "ulimit -n"},
      {{.open = ENOENT}, "No such file"},
      {{.open = EACCES}, "Permission denied"},
      {{.open = EIO}, "fault of the disk"},
      {{.status = EIO}, "fault of the disk"},
      {{.read = EIO}, "fault of the disk"},
      {{.read = EIO, .after = 100}, "fault of the disk"},
  };
  for (const auto& [faults, words] : cases) {
    hit_some(faults);
    expect_errors(centres(), before, paths(), words);
  }
}

TEST_P(FaultsOfPictures, AreErrorsWhereTheFileIsCutShort) {
  const auto before = centres();
  for (std::size_t i = 0; i < paths().size(); ++i)
    if (is_hit(i)) files_->fail(paths()[i], {.half_way = [this, i] { files_->overwrite(paths()[i], "cut"); }});
  expect_errors(centres(), before, paths(), "shrank");
}

TEST_P(FaultsOfPictures, AreErrorsWhereTheFileIsWrittenAgainAndAgain) {
  const auto before = centres();
  for (std::size_t i = 0; i < paths().size(); ++i) {
    const auto write = [this, i] { files_->overwrite(paths()[i], files_->bytes_of(paths()[i])); };
    if (is_hit(i)) files_->fail(paths()[i], {.half_way = write});
  }
  expect_errors(centres(), before, paths(), "is something writing it");
}

TEST_P(FaultsOfPictures, AreNoneWhereTheFileGrows) {
  const auto before = centres();
  for (const std::string& path : paths()) {
    const auto grow_once = [this, path, grown = files_->bytes_of(path) + "more"] {
      if (files_->bytes_of(path) != grown) files_->overwrite(path, grown);
    };
    files_->fail(path, {.half_way = grow_once});
  }
  expect_same(centres(), before);
}

TEST_P(FaultsOfPictures, GiveTheNewPictureWhereTheFileIsWrittenAnew) {
  const auto size_of = [this](const std::string& path) { return files_->bytes_of(path).size(); };
  const std::string shortest = files_->bytes_of(*std::ranges::min_element(paths(), {}, size_of));
  for (const std::string& path : paths()) {
    std::string other = shortest;
    other.resize(size_of(path));  // no length tells of the change, and what lies behind the end of a JPEG means nothing
    const auto write_once = [this, path, other] {
      if (files_->bytes_of(path) != other) files_->overwrite(path, other);
    };
    files_->fail(path, {.half_way = write_once});
  }
  const auto got = centres();
  hit_all({});
  for (const std::string& path : paths()) EXPECT_TRUE(files_->bytes_of(path).starts_with(shortest));
  expect_same(got, centres());
}

TEST_P(FaultsOfPictures, GiveTheOldPictureWhereAnotherFileTakesItsName) {
  const auto before = centres();
  for (const std::string& path : paths())
    files_->fail(path, {.half_way = [this, path] { files_->add(path, "another"); }});
  expect_same(centres(), before);
}

class FaultsOfAnnotations : public Pictures {
 protected:
  void hit_some_annotations(const Faults& faults) {
    for (std::size_t i = 0; i < paths().size(); ++i)
      if (is_hit(i)) files_->fail(annotation_of(i), faults);
  }
  std::vector<std::string> annotations() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < paths().size(); ++i) all.push_back(annotation_of(i));
    return all;
  }
};

TEST_P(FaultsOfAnnotations, ThatPassChangeNothing) {
  const auto before = crops();
  for (const Faults& faults :
       {Faults{.at_once = 7}, Faults{.read = EINTR, .times = 2}, Faults{.open = EMFILE, .times = 3}}) {
    for (const std::string& path : annotations()) files_->fail(path, faults);
    expect_same(crops(), before);
  }
}

TEST_P(FaultsOfAnnotations, ThatStayAreErrorsOfTheirFilesAlone) {
  const auto before = crops();
  hit_some_annotations({.read = EIO});
  for (std::size_t i = 0; i < paths().size(); ++i)
    if (is_hit(i)) files_->add(annotation_of(i), "<annotation/>");  // some have none: a file that can fail
  expect_errors(crops(), before, annotations(), "fault of the disk");
  hit_some_annotations({.open = EMFILE});
  expect_errors(crops(), before, annotations(), "ulimit -n");
  hit_some_annotations({.open = EACCES});
  expect_errors(crops(), before, annotations(), "Permission denied");
}

TEST_P(FaultsOfAnnotations, AreNoneWhereTheAnnotationIsGone) {
  const auto before = crops();
  const std::int64_t missing = missing_annotations();
  EXPECT_GT(missing, 0) << "of pictures that have none";
  for (const std::string& path : annotations()) files_->fail(path, {.open = ENOENT});
  const auto whole = crops();
  EXPECT_EQ(missing_annotations(), missing + kPictures);
  for (const Outcome& outcome : whole) {
    ASSERT_EQ(outcome.examples.size(), 1U) << outcome.error;
    EXPECT_EQ(outcome.examples[0].box, (std::array<float, 4>{0, 0, 1, 1}));
  }
}

const auto mode = [](const ::testing::TestParamInfo<bool>& serial) { return serial.param ? "Serially" : "OnThreads"; };
INSTANTIATE_TEST_SUITE_P(, FaultsOfPictures, ::testing::Bool(), mode);
INSTANTIATE_TEST_SUITE_P(, FaultsOfAnnotations, ::testing::Bool(), mode);

}  // namespace
}  // namespace penstock::imagenet
