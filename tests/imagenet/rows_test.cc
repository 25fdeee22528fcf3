// Examples are written where they lie in their batch: nothing is copied, unless that step is left out.
#include <gtest/gtest.h>
#include <penstock/imagenet.h>
#include <penstock/sources.h>

#include <cstdint>
#include <string>

#include "ops/imagenet/fast_path.h"
#include "tests/support/pictures/sample_set.h"

namespace penstock::imagenet {
namespace {

using pictures::SampleSet;

constexpr std::uint32_t epochs = 5;

Config config_of(const SampleSet& set) { return {.labels = labels_of(set.paths()), .size = {16, 12}}; }

// In all epochs of a run.
std::int64_t copied_bytes(const Dataset<Example>& examples) {
  auto run = examples.batch(7).start({.threads = 2, .epochs = epochs});
  for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
    for (auto&& batch : run.epoch(epoch)) EXPECT_GT(batch.size(), 0);
  }
  return run.stats().copied_bytes;
}

class Rows : public ::testing::Test {
 protected:
  Dataset<Example> crops(bool rows = true) const {
    return files().apply(load_crops(config_of(set_), {.rows = rows})).unbatch();
  }
  Dataset<Example> train(bool rows = true) const { return files().apply(load_train(config_of(set_), {.rows = rows})); }
  Dataset<Example> eval(bool rows = true) const { return files().apply(load_eval(config_of(set_), {.rows = rows})); }
  const SampleSet& set() const { return set_; }

 private:
  Dataset<std::string> files() const { return from_vector(set_.paths()).shuffle(1000, {.seed = 7}); }

  const SampleSet set_{200};  // with 0, 1 and 2 boxes
};

TEST_F(Rows, OfCropsAreNotCopied) { EXPECT_EQ(copied_bytes(crops()), 0); }

TEST_F(Rows, OfTrainAreNotCopied) { EXPECT_EQ(copied_bytes(train()), 0); }

TEST_F(Rows, OfEvalAreNotCopied) { EXPECT_EQ(copied_bytes(eval()), 0); }

TEST_F(Rows, AreCopiedWhereTheFastPathIsOff) {
  const auto row_bytes = static_cast<std::int64_t>(16 * 12 * 3 * sizeof(float));
  const std::int64_t pictures = epochs * static_cast<std::int64_t>(set().paths().size()) * row_bytes;
  EXPECT_GT(copied_bytes(crops(false)), pictures / 2);
  EXPECT_EQ(copied_bytes(train(false)), pictures);
  EXPECT_EQ(copied_bytes(eval(false)), pictures);
}

}  // namespace
}  // namespace penstock::imagenet
