// How often the pipelines ask the heap for memory once they run steadily. libjpeg takes its own by malloc, which is not counted.
#include <gtest/gtest.h>
#include <penstock/imagenet.h>
#include <penstock/penstock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bench/imagenet/process.h"
#include "lib/core/poison.h"
#include "tests/imagenet/sample_set.h"

#if defined(PENSTOCK_ASAN) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_SANITIZER 1
#endif
#endif
#ifndef UNDER_SANITIZER
#define UNDER_SANITIZER 0
#endif

namespace penstock::imagenet {
namespace {

using test::SampleSet;

constexpr std::uint32_t epochs = 16;
constexpr std::uint32_t warm_after = 6;
constexpr std::size_t times = 16;  // that each file is in the list: what an epoch or a batch costs shall not count

std::vector<std::string> many(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < times; ++i) all.insert(all.end(), paths.begin(), paths.end());
  return all;
}

Config config_of(const SampleSet& set) { return {.labels = labels_of(set.paths()), .size = {16, 12}}; }

// Of operator new, for each of the `images` of an epoch, in all epochs after the first few.
double allocations_per_image(const Dataset<StructBatch<Example>>& dataset, std::size_t images) {
  auto run = dataset.start({.epochs = epochs});
  std::int64_t before = 0;
  for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
    if (epoch == warm_after) before = bench::allocation_count();
    for (auto&& batch : run.epoch(epoch)) EXPECT_GT(batch.size(), 0);
  }
  const auto count = static_cast<double>(bench::allocation_count() - before);
  return count / static_cast<double>(images * (epochs - warm_after));
}

class Allocations : public testing::Test {
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
  EXPECT_LT(allocations_per_image(train, paths_.size()), 0.5);
}

TEST_F(Allocations, AreNoneForEachImageOfEval) {
  const auto eval = from_vector(paths_).apply(load_eval(config_of(set_))).batch(128).prefetch(AUTOTUNE);
  EXPECT_LT(allocations_per_image(eval, paths_.size()), 0.5);
}

// The one is tinyxml2's, which copies the text that it parses; two thirds of the files have one.
TEST_F(Allocations, AreOneForEachImageOfBoxes) {
  const auto boxes = from_vector(paths_).apply(load_crops(config_of(set_))).unbatch().batch(128).prefetch(AUTOTUNE);
  EXPECT_LT(allocations_per_image(boxes, paths_.size()), 1.5);
}

TEST_F(Allocations, AreNoneForTheNamesThatAFilterReads) {
  const auto rare = from_vector(paths_)
                        .filter([](const std::string& path) { return !path.ends_with("_0.JPEG"); })
                        .apply(load_train(config_of(set_)))
                        .batch(128);
  EXPECT_LT(allocations_per_image(rare, paths_.size()), 0.5);
}

}  // namespace
}  // namespace penstock::imagenet
