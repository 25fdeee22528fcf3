// Each step of the fast path, each instruction set and each number of threads: the same examples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/imagenet.h>
#include <penstock/sources.h>

#include <string>
#include <vector>

#include "ops/imagenet/fast_path.h"
#include "tests/support/examples.h"
#include "tests/support/pictures/sample_set.h"

namespace penstock::imagenet {
namespace {

using pictures::SampleSet;

enum class Workload { boxes, train, eval };
constexpr Workload workloads[] = {Workload::boxes, Workload::train, Workload::eval};

// A config, and the steps of the fast path that it is run with.
struct Way {
  Config config;
  FastPath fast;
};

Dataset<Batch<Example>> batches_of(const SampleSet& set, Workload workload, const Way& way, std::int64_t batch = 7) {
  const auto paths = from_vector(set.paths()).shuffle(1000, {.seed = 7});
  const auto examples = workload == Workload::boxes   ? paths.apply(load_crops(way.config, way.fast)).unbatch()
                        : workload == Workload::train ? paths.apply(load_train(way.config, way.fast))
                                                      : paths.apply(load_eval(way.config, way.fast));
  return examples.batch(batch).prefetch(2);
}

// Of two epochs, taken out of their batches.
std::vector<Example> examples_of(const SampleSet& set, Workload workload, const Way& way, int threads,
                                 std::int64_t batch_size = 7) {
  std::vector<Example> examples;
  auto run = batches_of(set, workload, way, batch_size).start({.threads = threads, .epochs = 2, .seed = 11});
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
    run.epoch(epoch);
    while (auto batch = run.next())
      for (Example& example : Unbatch<Batch<Example>>::apart(std::move(*batch))) examples.push_back(std::move(example));
  }
  return examples;
}

struct Steps {
  FastPath fast = {};
  image::Decoder decoder = image::Decoder::automatic;
  image::Simd simd = image::Simd::automatic;
};

// With an odd width, so that vectors end in the middle of rows.
Way way_of(const SampleSet& set, DType type, image::Layout layout, const Steps& steps) {
  Config config{.labels = labels_of(set.paths()),
                .size = {24, 37},
                .dtype = type,
                .layout = layout,
                .boxes = BoxPolicy::tf,
                .shorter_side = 44};
  config.decode.decoder = steps.decoder;
  config.decode.simd = steps.simd;
  return {config, steps.fast};
}

constexpr Steps plain{{.roi = false, .rows = false, .stream = false}, image::Decoder::libjpeg, image::Simd::scalar};

std::vector<Steps> all_steps() {
  std::vector<Steps> all{{},
                         {.fast = {.roi = false}},
                         {.decoder = image::Decoder::libjpeg},
                         {.fast = {.roi = false}, .decoder = image::Decoder::libjpeg},
                         {.fast = {.rows = false}},
                         {.fast = {.stream = false}}};
  for (const image::Simd simd : image::supported_simd()) all.push_back({.simd = simd});
  return all;
}

std::string name_of(Workload workload, const Steps& steps, int threads) {
  const auto& [fast, decoder, simd] = steps;
  return "workload " + std::to_string(static_cast<int>(workload)) + ", roi " + std::to_string(fast.roi) + ", rows " +
         std::to_string(fast.rows) + ", stream " + std::to_string(fast.stream) + ", decoder " +
         std::to_string(static_cast<int>(decoder)) + ", " + std::string(to_string(simd)) + ", " +
         std::to_string(threads) + " threads";
}

TEST(FastPath, StepsDoNotChangeExamples) {
  const SampleSet set(40);
  for (const Workload workload : workloads) {
    const auto expected = examples_of(set, workload, way_of(set, DType::f32, image::Layout::nhwc, plain), 1);
    ASSERT_GE(expected.size(), 40U);
    for (const Steps& steps : all_steps()) {
      SCOPED_TRACE(name_of(workload, steps, 2));
      test::expect_equal(examples_of(set, workload, way_of(set, DType::f32, image::Layout::nhwc, steps), 2), expected);
    }
  }
}

TEST(FastPath, NumbersOfThreadsDoNotChangeExamples) {
  const SampleSet set(40);
  for (const Workload workload : workloads) {
    const auto expected = examples_of(set, workload, way_of(set, DType::f16, image::Layout::nchw, plain), 1);
    for (const int threads : {1, 2, 8}) {
      SCOPED_TRACE(name_of(workload, {}, threads));
      test::expect_equal(examples_of(set, workload, way_of(set, DType::f16, image::Layout::nchw, {}), threads),
                         expected);
    }
  }
}

TEST(FastPath, IsTheSameForAllTypesAndLayouts) {
  const SampleSet set(20);
  for (const Workload workload : workloads)
    for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::u8})
      for (const image::Layout layout : {image::Layout::nhwc, image::Layout::nchw}) {
        SCOPED_TRACE(name_of(workload, {}, 2) + ", " + std::string(to_string(type)));
        const auto expected = examples_of(set, workload, way_of(set, type, layout, plain), 1);
        test::expect_equal(examples_of(set, workload, way_of(set, type, layout, {}), 2), expected);
      }
}

// Large enough that they are.
TEST(FastPath, BatchesThatAreWrittenPastTheCachesHoldTheSame) {
  const SampleSet set(30);
  for (const DType type : {DType::f32, DType::f16}) {
    Way way = way_of(set, type, image::Layout::nhwc, {});
    way.config.size = {300, 305};
    way.config.shorter_side = 310;
    const std::int64_t batch =
        (std::int64_t{9} << 20) / static_cast<std::int64_t>(way.config.size.values() * size_of(type)) + 1;
    Way through_caches = way;
    through_caches.fast.stream = false;
    for (const Workload workload : workloads)
      test::expect_equal(examples_of(set, workload, way, 2, batch),
                         examples_of(set, workload, through_caches, 2, batch));
  }
}

TEST(FastPath, RefusesInstructionsThatTheMachineLacks) {
  const SampleSet set(1);
  for (const image::Simd simd : {image::Simd::sse4, image::Simd::avx2, image::Simd::avx512, image::Simd::neon}) {
    if (testing::Value(image::supported_simd(), ::testing::Contains(simd))) continue;
    const Way way = way_of(set, DType::f32, image::Layout::nhwc, {.simd = simd});
    EXPECT_THROW(batches_of(set, Workload::train, way), GraphError) << to_string(simd);
  }
}

}  // namespace
}  // namespace penstock::imagenet
