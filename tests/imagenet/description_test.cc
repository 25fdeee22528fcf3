// What a pipeline's description tells of Config: all that decides the elements, because checkpoints
// compare it, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/imagenet.h>
#include <penstock/sources.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lib/graph/node.h"
#include "tests/support/expect_error.h"

namespace penstock::imagenet {
namespace {

using Change = std::function<void(Config&)>;

const std::vector<Change> deciding{
    [](Config&) {},
    [](Config& config) {
      config.labels = LabelTable::from_names({"n00000000", "n00000002"});
    },
    [](Config& config) { config.labels = LabelTable::from_names({"n00000000"}); },
    [](Config& config) {
      config.size = {16, 17};
    },
    [](Config& config) { config.dtype = DType::u8; },
    [](Config& config) { config.layout = image::Layout::nchw; },
    [](Config& config) { config.annotations = "elsewhere"; },
    [](Config& config) { config.voc.max_bytes = 1000; },
    [](Config& config) { config.voc.max_objects = 10; },
    [](Config& config) { config.decode.dct = image::Dct::ifast; },
    [](Config& config) { config.decode.fancy_upsampling = false; },
    [](Config& config) { config.decode.truncated = image::Truncated::accept; },
    [](Config& config) { config.decode.max_pixels = 1000; },
};

Config changed(const Change& change) {
  Config config{.labels = LabelTable::from_names({"n00000000", "n00000001"})};
  config.size = {16, 16};
  change(config);
  return config;
}

template <class Transform> std::string description_of(const Transform& transform) {
  return graph::pipeline_text(from_vector<std::string>({"a.jpg"}).apply(transform).node());
}

TEST(Description, TellsAllThatDecidesTheElements) {
  std::set<std::string> crops, train, eval;
  for (const Change& change : deciding) {
    crops.insert(description_of(load_crops(changed(change))));
    train.insert(description_of(load_train(changed(change))));
    eval.insert(description_of(load_eval(changed(change))));
  }
  EXPECT_EQ(crops.size(), deciding.size());
  EXPECT_EQ(train.size(), deciding.size());
  EXPECT_EQ(eval.size(), deciding.size());
}

TEST(Description, OfCropsTellsTheBoxPolicy) {
  std::set<std::string> texts;
  for (const BoxPolicy policy : {BoxPolicy::strict, BoxPolicy::clamp, BoxPolicy::tf})
    texts.insert(description_of(load_crops(changed([policy](Config& config) { config.boxes = policy; }))));
  EXPECT_EQ(texts.size(), 3U);
}

TEST(Description, OfEvalTellsTheShorterSide) {
  const auto text = [](std::int64_t side) {
    return description_of(load_eval(changed([side](Config& config) { config.shorter_side = side; })));
  };
  EXPECT_NE(text(256), text(255));
}

TEST(Description, IsForPeople) {
  EXPECT_THAT(description_of(load_crops(changed([](Config&) {}))), ::testing::HasSubstr("16x16, f32, nhwc, labels=2:"));
}

TEST(Description, DoesNotChangeWithWhatOnlyCounts) {
  const auto counted = [](Config& config) { config.counters = std::make_shared<Counters>(); };
  EXPECT_EQ(description_of(load_crops(changed(counted))), description_of(load_crops(changed([](Config&) {}))));
}

// Another table gives other numbers, so the run must not go on.
TEST(Description, CheckpointWithOtherLabelsIsRefused) {
  const auto dataset = [](const LabelTable& labels) {
    return from_vector<std::string>({"a.jpg"}).apply(load_train({.labels = labels}));
  };
  const auto saved =
      std::make_shared<const Checkpoint>(dataset(LabelTable::from_names({"n00000000"})).start().checkpoint());
  EXPECT_ERROR(dataset(LabelTable::from_names({"n00000001"})).start({.resume_from = saved}),
               ErrorCode::failed_precondition, "labels=1:");
}

// With everything set that a description names, and the names of 1000 classes.
TEST(Description, FitsWithACheckpointIntoOneKibibyte) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("n" + std::to_string(10'000'000 + i));
  Config config{.labels = LabelTable::from_names(names)};
  config.annotations = std::string(200, 'a');
  config.voc = {.max_bytes = 123'456'789, .max_objects = 123'456};
  config.decode.max_pixels = 123'456'789;
  const auto paths = from_vector(std::vector<std::string>(1'281'167, "a.jpg")).shuffle(1'281'167, {.seed = ~0ull});
  const auto batches =
      paths.apply(load_crops(config)).unbatch().batch(256, {.drop_remainder = true}).repeat(90).prefetch();
  const std::string bytes = batches.start().checkpoint().to_bytes();
  EXPECT_LT(bytes.size(), 1024u);
  EXPECT_EQ(Checkpoint::from_bytes(bytes).pipeline, graph::pipeline_text(batches.node()));
}

}  // namespace
}  // namespace penstock::imagenet
