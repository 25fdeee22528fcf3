// Each step of the fast path, each instruction set and each number of threads: the same examples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/imagenet.h>
#include <penstock/sources.h>

#include <string>
#include <vector>

#include "tests/imagenet/examples.h"
#include "tests/imagenet/sample_set.h"

namespace penstock::imagenet {
namespace {

using test::SampleSet;

enum class Workload { boxes, train, eval };
constexpr Workload workloads[] = {Workload::boxes, Workload::train, Workload::eval};

Dataset<Batch<Example>> batches_of(const SampleSet& set, Workload workload, const Config& config, std::int64_t batch = 7) {
  const auto paths = from_vector(set.paths()).shuffle(1000, {.seed = 7});
  const auto examples = workload == Workload::boxes   ? paths.apply(load_crops(config)).unbatch()
                        : workload == Workload::train ? paths.apply(load_train(config))
                                                      : paths.apply(load_eval(config));
  return examples.batch(batch).prefetch(2);
}

// Of two epochs, taken out of their batches.
std::vector<Example> examples_of(const SampleSet& set, Workload workload, const Config& config, int threads,
                                 std::int64_t batch_size = 7) {
  std::vector<Example> examples;
  auto run = batches_of(set, workload, config, batch_size).start({.threads = threads, .epochs = 2, .seed = 11});
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
    run.epoch(epoch);
    while (auto batch = run.next())
      for (Example& example : Unbatch<Batch<Example>>::apart(std::move(*batch))) examples.push_back(std::move(example));
  }
  return examples;
}

// With an odd width, so that vectors end in the middle of rows.
Config config_of(const SampleSet& set, DType type, image::Layout layout, const FastPath& fast) {
  return {.labels = labels_of(set.paths()), .size = {24, 37}, .dtype = type, .layout = layout, .boxes = BoxPolicy::tf,
          .shorter_side = 44, .fast = fast};
}

constexpr FastPath plain{.roi = false, .own = false, .slots = false, .stream = false, .simd = image::Simd::scalar};

std::vector<FastPath> fast_paths() {
  std::vector<FastPath> all{{}, {.roi = false}, {.own = false}, {.roi = false, .own = false}, {.slots = false}, {.stream = false}};
  for (const image::Simd simd : image::supported_simd()) all.push_back({.simd = simd});
  return all;
}

std::string name_of(Workload workload, const FastPath& fast, int threads) {
  return "workload " + std::to_string(static_cast<int>(workload)) + ", roi " + std::to_string(fast.roi) + ", own " + std::to_string(fast.own) + ", slots " +
         std::to_string(fast.slots) + ", stream " + std::to_string(fast.stream) + ", " + std::string(to_string(fast.simd)) + ", " +
         std::to_string(threads) + " threads";
}

TEST(FastPath, StepsDoNotChangeExamples) {
  const SampleSet set(40);
  for (const Workload workload : workloads) {
    const auto expected = examples_of(set, workload, config_of(set, DType::f32, image::Layout::nhwc, plain), 1);
    ASSERT_GE(expected.size(), 40U);
    for (const FastPath& fast : fast_paths()) {
      SCOPED_TRACE(name_of(workload, fast, 2));
      test::expect_equal(examples_of(set, workload, config_of(set, DType::f32, image::Layout::nhwc, fast), 2), expected);
    }
  }
}

TEST(FastPath, NumbersOfThreadsDoNotChangeExamples) {
  const SampleSet set(40);
  for (const Workload workload : workloads) {
    const auto expected = examples_of(set, workload, config_of(set, DType::f16, image::Layout::nchw, plain), 1);
    for (const int threads : {1, 2, 8}) {
      SCOPED_TRACE(name_of(workload, {}, threads));
      test::expect_equal(examples_of(set, workload, config_of(set, DType::f16, image::Layout::nchw, {}), threads), expected);
    }
  }
}

TEST(FastPath, IsTheSameForAllTypesAndLayouts) {
  const SampleSet set(20);
  for (const Workload workload : workloads)
    for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::u8})
      for (const image::Layout layout : {image::Layout::nhwc, image::Layout::nchw}) {
        SCOPED_TRACE(name_of(workload, {}, 2) + ", " + std::string(to_string(type)));
        const auto expected = examples_of(set, workload, config_of(set, type, layout, plain), 1);
        test::expect_equal(examples_of(set, workload, config_of(set, type, layout, {}), 2), expected);
      }
}

// Large enough that they are.
TEST(FastPath, BatchesThatAreWrittenPastTheCachesHoldTheSame) {
  const SampleSet set(30);
  for (const DType type : {DType::f32, DType::f16}) {
    Config config = config_of(set, type, image::Layout::nhwc, {});
    config.size = {300, 305};
    config.shorter_side = 310;
    const std::int64_t batch = (std::int64_t{9} << 20) / static_cast<std::int64_t>(config.size.values() * size_of(type)) + 1;
    Config through_caches = config;
    through_caches.fast.stream = false;
    for (const Workload workload : workloads)
      test::expect_equal(examples_of(set, workload, config, 2, batch), examples_of(set, workload, through_caches, 2, batch));
  }
}

TEST(FastPath, RefusesInstructionsThatTheMachineLacks) {
  const SampleSet set(1);
  for (const image::Simd simd : {image::Simd::sse4, image::Simd::avx2, image::Simd::avx512, image::Simd::neon}) {
    if (testing::Value(image::supported_simd(), testing::Contains(simd))) continue;
    const Config config = config_of(set, DType::f32, image::Layout::nhwc, {.simd = simd});
    EXPECT_THROW(batches_of(set, Workload::train, config), GraphError) << to_string(simd);
  }
}

}  // namespace
}  // namespace penstock::imagenet
