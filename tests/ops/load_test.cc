// save(), Saved, load() and snapshot(): what is in the file, which of it is read, and what becomes of what goes wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/penstock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/environment.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace penstock {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Numbers = std::vector<std::int64_t>;

Numbers numbers_up_to(std::int64_t count) {
  Numbers numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

template <class T> std::vector<T> all_of(const Dataset<T>& dataset, const RunOptions& options = {}) {
  std::vector<T> given;
  auto run = dataset.start(options);
  while (auto value = run.next()) given.push_back(std::move(*value));
  return given;
}

std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

// Of some 100 bytes, told apart by their first ones: about 500 to a block.
std::string text_of(std::int64_t x) {
  return std::to_string(x) + std::string(100 + static_cast<std::size_t>(x % 7), '.');
}

class Load : public ::testing::Test {
 protected:
  test::TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "file.saved";
};
using Save = Load;
using Snapshots = Load;

// IO-01 of shared/design/tfdata.md.
TEST_F(Load, GivesWhatWasSavedInThatOrder) {
  const SaveReport report = save(range(42), path_);
  EXPECT_EQ(report.elements, 42);
  EXPECT_EQ(report.bytes, static_cast<std::int64_t>(std::filesystem::file_size(path_)));
  const auto loaded = load<std::int64_t>(path_);
  EXPECT_EQ(loaded.cardinality(), 42);
  EXPECT_EQ(all_of(loaded), numbers_up_to(42));
  EXPECT_EQ(all_of(loaded, {.serial = true}), numbers_up_to(42));
}

// IO-02.
TEST_F(Load, WorksInAFunctionOfAnotherPipeline) {
  const auto sums = range(1).map([this](std::int64_t) {
    save(range(42), path_);
    const Numbers loaded = all_of(load<std::int64_t>(path_));
    return std::accumulate(loaded.begin(), loaded.end(), std::int64_t{0});
  });
  EXPECT_THAT(all_of(sums), ElementsAre(41 * 42 / 2));
}

TEST_F(Load, GivesTheElementsAtPositions) {
  save(range(10'000).map(text_of), path_);
  const Saved<std::string> saved(path_);
  EXPECT_EQ(saved.size(), 10'000);
  EXPECT_THAT(all_of(saved.elements_at(from_vector(Numbers{9'999, 0, 0, 1, 5'000, 4'999}))),
              ElementsAre(text_of(9'999), text_of(0), text_of(0), text_of(1), text_of(5'000), text_of(4'999)));
}

TEST_F(Load, OfShuffledPositionsGivesThemInThatOrderWhateverTheThreads) {
  save(range(3'000).map(text_of), path_);
  const auto positions = range(3'000).shuffle(3'000, {.seed = 5}).shard(3, 1);
  std::vector<std::string> expected;
  for (const std::int64_t i : all_of(positions)) expected.push_back(text_of(i));
  const Saved<std::string> saved(path_);
  EXPECT_EQ(all_of(saved.elements_at(positions), {.threads = 1}), expected);
  EXPECT_EQ(all_of(saved.elements_at(positions), {.threads = 8}), expected);
  EXPECT_EQ(all_of(saved.elements_at(positions), {.serial = true}), expected);
}

TEST_F(Load, OfLargeElementsGivesThemWhole) {
  const auto large = [](std::int64_t i) { return Tensor(DType::u8, {100'000 + i}); };
  save(range(20).map(large), path_);
  std::int64_t i = 0;
  for (const Tensor& tensor : load<Tensor>(path_)) EXPECT_EQ(tensor.shape(), Shape({100'000 + i++}));
  EXPECT_EQ(i, 20);
}

TEST_F(Load, IsResumedAnywhere) {
  save(range(1'000).map(text_of), path_);
  const Saved<std::string> saved(path_);
  const auto dataset = saved.elements_at(range(1'000).shuffle(1'000, {.seed = 2}));
  auto run = dataset.start();
  std::vector<std::string> given;
  for (int i = 0; i < 333; ++i) given.push_back(*run.next());
  const auto rest = all_of(dataset, {.resume_from = std::make_shared<Checkpoint>(run.checkpoint())});
  given.insert(given.end(), rest.begin(), rest.end());
  EXPECT_EQ(given, all_of(dataset));
}

TEST_F(Load, ReadsWhatACacheHasWrittenAndACacheWhatWasSaved) {
  all_of(range(5).cache(path_));
  EXPECT_EQ(all_of(load<std::int64_t>(path_)), numbers_up_to(5));
  save(range(7), path_);
  EXPECT_EQ(all_of(range(5).cache(path_)), numbers_up_to(7));
}

TEST_F(Load, OfNumbersThatAreNoneIsAnErrorInTheirPlaces) {
  save(range(3), path_);
  auto run = Saved<std::int64_t>(path_).elements_at(from_vector(Numbers{0, 3, -1, 2})).start();
  EXPECT_EQ(run.next(), 0);
  EXPECT_ERROR(run.next(), ErrorCode::invalid_argument, "has no element 3: it has 3, numbered from 0");
  EXPECT_ERROR(run.next(), ErrorCode::invalid_argument, "has no element -1");
  EXPECT_EQ(run.next(), 2);
  EXPECT_EQ(run.next(), std::nullopt);
}

TEST_F(Load, RefusesAFileThatIsNotThereAndElementsOfAnotherType) {
  EXPECT_ERROR(load<std::int64_t>(path_), ErrorCode::invalid_argument, "save() writes one");
  save(range(3), path_);
  EXPECT_ERROR(load<std::string>(path_), ErrorCode::invalid_argument, "holds elements of type");
}

// Each element that lies in the block, and no other one.
TEST_F(Load, OfADamagedBlockIsAnErrorForEachOfItsElements) {
  save(range(3'000).map(text_of), path_);
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(150'000);
    file.put('X');
  }
  auto run = load<std::string>(path_).start({.on_error = skip_all()});
  std::int64_t at = 0, gaps = 0;
  for (std::int64_t expected = 0; auto text = run.next(); expected = at + 1) {
    at = std::stoll(*text);
    gaps += at != expected;
    EXPECT_EQ(*text, text_of(at));
  }
  EXPECT_EQ(gaps, 1);
  EXPECT_GT(run.stats().skipped, 400);
  EXPECT_LT(run.stats().skipped, 600);
  EXPECT_EQ(run.stats().skipped + run.stats().delivered, 3'000);
}

// Each reads its block by itself, which takes a sanitizer a millisecond.
std::int64_t many() { return test::is_smallest() ? 2'000 : 20'000; }

TEST_F(Load, OfAFileThatWasReplacedOrRemovedGivesWhatItHadWhenItWasOpened) {
  save(range(many()).map(text_of), path_);
  const Saved<std::string> saved(path_);
  save(range(10).map([](std::int64_t) { return std::string("new"); }), path_);
  const auto shuffled = saved.elements_at(range(many()).shuffle(many(), {.seed = 1}));
  EXPECT_EQ(all_of(shuffled, {.threads = 4}).size(), static_cast<std::size_t>(many()));
  std::filesystem::remove(path_);
  std::int64_t i = 0;
  for (const std::string& text : saved.elements()) ASSERT_EQ(text, text_of(i++));
}

// They share the open file, and so its place.
TEST_F(Load, InTwoProcessesThatWereForkedReadsTheRightBlocks) {
  save(range(many()).map(text_of), path_);
  const auto shuffled = Saved<std::string>(path_).elements_at(range(many()).shuffle(many(), {.seed = 1}));
  const auto read_all = [&shuffled] { return all_of(shuffled, {.on_error = skip_all(), .serial = true}).size(); };
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(read_all() == static_cast<std::size_t>(many()) ? 0 : 1);
  EXPECT_EQ(read_all(), static_cast<std::size_t>(many()));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(Save, OfNothingIsAFileWithoutElements) {
  EXPECT_EQ(save(range(0), path_).elements, 0);
  EXPECT_EQ(load<std::int64_t>(path_).cardinality(), 0);
  EXPECT_THAT(all_of(load<std::int64_t>(path_)), IsEmpty());
}

TEST_F(Save, ThatFailsLeavesWhatWasThere) {
  save(range(3), path_);
  const auto failing = range(100).map([](std::int64_t x) { return x < 50 ? x : throw std::runtime_error("no"); });
  EXPECT_ERROR(save(failing, path_), ErrorCode::internal, "no");
  EXPECT_EQ(all_of(load<std::int64_t>(path_)), numbers_up_to(3));
  EXPECT_EQ(files_in(folder_.path()), 1U);
}

TEST_F(Save, LeavesOutErrorsThatMayPassAndCountsThem) {
  const auto failing = range(100).map([](std::int64_t x) { return x < 90 ? x : throw std::runtime_error("no"); });
  const SaveReport report = save(failing, path_, {.on_error = skip_up_to(10)});
  EXPECT_EQ(report.elements, 90);
  EXPECT_EQ(report.skipped, 10);
  EXPECT_EQ(all_of(load<std::int64_t>(path_)), numbers_up_to(90));
}

TEST_F(Save, RunsTheEpochThatItIsTold) {
  const auto shuffled = range(100).shuffle(100, {.seed = 3});
  save(shuffled, path_, {.first_epoch = 4});
  EXPECT_EQ(all_of(load<std::int64_t>(path_)), all_of(shuffled, {.first_epoch = 4}));
}

TEST_F(Save, SaysWhereItCannotWriteBeforeItRunsAnything) {
  int calls = 0;
  const auto counted = range(3).map([&calls](std::int64_t x) { return calls += static_cast<int>(x); }, 1);
  EXPECT_ERROR(save(counted, folder_.path().string()), ErrorCode::invalid_argument, "it is a folder");
  EXPECT_ERROR(save(counted, ""), ErrorCode::not_found, "cannot create ''");
  EXPECT_EQ(calls, 0);
  EXPECT_ERROR(save(range(3), (folder_.path() / "no/such/folder/file").string()), ErrorCode::not_found,
               "cannot create");
}

// IO-05.
TEST_F(Snapshots, RunWhatIsBeforeThemOnce) {
  std::atomic<int> calls = 0;
  const auto counted = range(1'000).map([&calls](std::int64_t x) {
    ++calls;
    return x;
  });
  const std::string folder = folder_.path() / "made";
  EXPECT_EQ(all_of(counted.apply(snapshot(folder))), numbers_up_to(1'000));
  EXPECT_EQ(all_of(counted.apply(snapshot(folder))), numbers_up_to(1'000));
  EXPECT_EQ(calls, 1'000);
  EXPECT_EQ(files_in(folder), 1U);
}

// IO-06.
TEST_F(Snapshots, OfTwoPipelinesAreTwoFiles) {
  const std::string folder = folder_.path();
  EXPECT_EQ(all_of(range(1'000).apply(snapshot(folder))), numbers_up_to(1'000));
  EXPECT_EQ(all_of(range(2'000).apply(snapshot(folder))), numbers_up_to(2'000));
  const auto shuffled = [&](std::uint64_t seed) {
    return all_of(range(10).shuffle(10, {.seed = seed}).apply(snapshot(folder)));
  };
  EXPECT_NE(shuffled(1), shuffled(2));
  EXPECT_EQ(files_in(folder), 4U);
}

// IO-08.
TEST_F(Snapshots, OfNothingAreReadAgain) {
  for (int i = 0; i < 2; ++i) EXPECT_THAT(all_of(range(0).apply(snapshot(folder_.path()))), IsEmpty());
  EXPECT_EQ(files_in(folder_.path()), 1U);
}

TEST_F(Snapshots, SayThatTheirFolderCannotBe) {
  save(range(3), path_);
  EXPECT_ERROR(range(3).apply(snapshot(path_)), ErrorCode::invalid_argument, "cannot make folder '");
  EXPECT_ERROR(range(3).apply(snapshot(path_ + "/below")), ErrorCode::invalid_argument, "cannot make folder '");
}

}  // namespace
}  // namespace penstock
