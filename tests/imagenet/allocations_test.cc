// How often the pipelines ask the heap for memory once they run steadily. libjpeg takes its own by malloc, which is not
// counted.
#include <gtest/gtest.h>
#include <penstock/imagenet.h>
#include <penstock/penstock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/imagenet/process.h"
#include "tests/support/pictures/sample_set.h"
#include "tests/support/under_sanitizer.h"

namespace penstock::imagenet {
namespace {

using pictures::SampleSet;

constexpr std::uint32_t epochs = 32;
constexpr std::uint32_t warm_after = 11;
constexpr std::size_t times = 16;  // that each file is in the list: what an epoch or a batch costs shall not count
// A batch has some fourteen of its own, for 128 images: 0.11. One for each third image would be 0.44.
constexpr double none = 0.3;

std::vector<std::string> many(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < times; ++i) all.insert(all.end(), paths.begin(), paths.end());
  return all;
}

Config config_of(const SampleSet& set) { return {.labels = labels_of(set.paths()), .size = {16, 12}}; }

// Of operator new, for each of the `images` of an epoch, in the middle one of all epochs but the first few: where the
// controller widens a buffer, or others take the cores, more elements are under way than ever before, and those are
// made anew.
double allocations_per_image(const Dataset<StructBatch<Example>>& dataset, std::size_t images) {
  auto run = dataset.start({.epochs = epochs});
  std::vector<std::int64_t> counts;
  for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
    const std::int64_t before = bench::allocation_count();
    for (auto&& batch : run.epoch(epoch)) EXPECT_GT(batch.size(), 0);
    if (epoch >= warm_after) counts.push_back(bench::allocation_count() - before);
  }
  const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
  std::ranges::nth_element(counts, middle);
  return static_cast<double>(*middle) / static_cast<double>(images);
}

class Allocations : public ::testing::Test {
 protected:
  void SetUp() override {
    if (UNDER_SANITIZER) GTEST_SKIP() << "pools keep nothing under a sanitizer";
  }

  const SampleSet set_{30};
  const std::vector<std::string> paths_ = many(set_.paths());
};

TEST_F(Allocations, AreNoneForEachImageOfTrain) {
  const auto train =
      from_vector(paths_).shuffle(1000, {.seed = 7}).apply(load_train(config_of(set_))).batch(128).prefetch(AUTOTUNE);
  EXPECT_LT(allocations_per_image(train, paths_.size()), none);
}

TEST_F(Allocations, AreNoneForEachImageOfEval) {
  const auto eval = from_vector(paths_).apply(load_eval(config_of(set_))).batch(128).prefetch(AUTOTUNE);
  EXPECT_LT(allocations_per_image(eval, paths_.size()), none);
}

// The one is tinyxml2's, which copies the text that it parses; two thirds of the files have one.
TEST_F(Allocations, AreOneForEachImageOfBoxes) {
  const auto boxes = from_vector(paths_).apply(load_crops(config_of(set_))).unbatch().batch(128).prefetch(AUTOTUNE);
  EXPECT_LT(allocations_per_image(boxes, paths_.size()), 1 + none);
}

TEST_F(Allocations, AreNoneForTheNamesThatAFilterReads) {
  const auto rare = from_vector(paths_)
                        .filter([](const std::string& path) { return !path.ends_with("_0.JPEG"); })
                        .apply(load_train(config_of(set_)))
                        .batch(128);
  EXPECT_LT(allocations_per_image(rare, paths_.size()), none);
}

}  // namespace
}  // namespace penstock::imagenet
