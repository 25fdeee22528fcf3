// The exam in real time: that its pipelines do what their scenario says. Nothing here depends on how fast anything is.
#include <gtest/gtest.h>
#include <penstock/penstock.h>

#include <algorithm>
#include <thread>

#include "autotune/policy.h"
#include "tests/exam/real/real_pipeline.h"
#include "tests/exam/real/real_exam.h"
#include "lib/core/clock.h"
#include "lib/runtime/start_run.h"
#include "tests/exam/test/worlds.h"
#include "tests/support/shared_data.h"

namespace penstock::exam {
namespace {

std::shared_ptr<detail::RunCore> untuned(const graph::NodeRef& node, const RunOptions& options = {}) {
  return runtime::start_run(node, options, [] { return autotune::make_policy("none"); });
}

ChainSpec chain_with(std::vector<StageSpec> stages) { return process_of(std::move(stages)).chains.front(); }

template <class T> T next_of(detail::RunCore& run) {
  Element element;
  EXPECT_EQ(run.next(element, nullptr), detail::RunCore::Status::element);
  return element.take<T>();
}

// ------------------------------------------------------------------------------------------------ the translator

TEST(RealPipeline, GivesElementsInOrderAndOfTheSizeOfTheSpec) {
  ChainSpec spec = chain_with({waiting(0.01), computing(0.01)});
  spec.stages.back().result_bytes = 1234;
  const auto run = untuned(real_pipeline_of(spec, std::make_shared<RealWorld>(spec), ""));
  for (std::int64_t i = 0; i < 20; ++i) {
    const Item item = next_of<Item>(*run);
    EXPECT_EQ(item.index, i);
    EXPECT_EQ(bytes_of(item), 1234u);
  }
}

TEST(RealPipeline, GivesUpOrderWhereTheSpecDoes) {
  ChainSpec spec = chain_with({waiting(0.01)});
  spec.stages.front().ordered = false;
  const auto run = untuned(real_pipeline_of(spec, std::make_shared<RealWorld>(spec), ""));
  run->knobs();
  EXPECT_FALSE(run->snapshot().stages[1].ordered);
}

TEST(RealPipeline, GivesTheElementsOfFilesInTurn) {
  ChainSpec spec = chain_with({nest_of(waiting(0.01), Distribution::constant(2), 2)});
  spec.stages.front().result_bytes = 1234;
  const auto run = untuned(real_pipeline_of(spec, std::make_shared<RealWorld>(spec), ""));
  std::vector<std::int64_t> indices;
  for (int i = 0; i < 8; ++i) {
    const Item item = next_of<Item>(*run);
    indices.push_back(item.index);
    EXPECT_EQ(bytes_of(item), 1234u);
  }
  const std::int64_t file = indices[1];
  EXPECT_GT(file, 1);
  EXPECT_EQ(indices, (std::vector<std::int64_t>{0, file, 1, file + 1, 2 * file, 3 * file, 2 * file + 1, 3 * file + 1}));
}

TEST(RealPipeline, SleepsWhereTheSpecWaits) {
  const ChainSpec spec = chain_with({waiting(20)});
  const auto run = untuned(real_pipeline_of(spec, std::make_shared<RealWorld>(spec), ""));
  const std::int64_t start = now_ns();
  next_of<Item>(*run);
  EXPECT_GE(now_ns() - start, 20'000'000);
}

TEST(RealPipeline, UsesTheCpuTimeOfTheSpec) {
  const ChainSpec spec = chain_with({computing(20)});
  const std::int64_t before = process_cpu_ns();
  const auto run = untuned(real_pipeline_of(spec, std::make_shared<RealWorld>(spec), ""));
  next_of<Item>(*run);
  EXPECT_GE(process_cpu_ns() - before, 20'000'000);
}

TEST(RealPipeline, CountsTheCallsThatWait) {
  const ChainSpec spec = chain_with({waiting(0.01), computing(0.01)});
  const auto world = std::make_shared<RealWorld>(spec);
  const auto run = untuned(real_pipeline_of(spec, world, ""));
  next_of<Item>(*run);
  EXPECT_GE(world->waiting_calls.take_most(), 1);
  EXPECT_GE(world->calls.take_most(), 1);
}

TEST(RealPipeline, TakesMemoryAndOpenIoFromTheSpec) {
  const ChainSpec spec = scenario_named("S12").process.chains.front();
  EXPECT_EQ(static_cast<std::int64_t>(run_options_of(spec).memory_bytes), spec.memory);
  EXPECT_EQ(run_options_of(scenario_named("S02").process.chains.front()).open_io, 256);
}

TEST(RealPipeline, CanDoTheScenariosThatAreToBeShown) {
  EXPECT_EQ(real_by_default().size(), 10u);
  for (const std::string& id : real_by_default()) EXPECT_EQ(not_in_real_mode(scenario_named(id)), "") << id;
}

TEST(RealPipeline, CanDoNests) {
  for (const char* id : {"S23", "S24"}) EXPECT_EQ(not_in_real_mode(scenario_named(id)), "") << id;
}

TEST(RealPipeline, SaysWhyItCannotDoOthers) {
  EXPECT_EQ(not_in_real_mode(scenario_named("S11")), "a stage gives several results for one element");
  EXPECT_EQ(not_in_real_mode(scenario_named("S18")), "it needs a busy process beside it");
  EXPECT_EQ(not_in_real_mode(scenario_named("S18q")), "it needs a quota of CPU time");
  EXPECT_EQ(not_in_real_mode(scenario_named("S19")), "a function has threads of its own");
  EXPECT_EQ(not_in_real_mode(scenario_named("S20t")), "there are no pictures of such sizes");
  const ChainSpec shards = scenario_named("S11").process.chains.front();
  EXPECT_THROW(real_pipeline_of(shards, std::make_shared<RealWorld>(shards), ""), std::invalid_argument);
}

TEST(RealPipeline, ReadsDecodesAndCropsPictures) {
  PENSTOCK_NEEDS_SHARED("data/imagenet");
  const auto folder = test::shared_folder() / "data" / "imagenet";
  const ChainSpec spec = scenario_named("S20").process.chains.front();
  const auto run = untuned(real_pipeline_of(spec, std::make_shared<RealWorld>(spec), folder.string()));
  EXPECT_EQ(run->knobs().empty(), false);
  EXPECT_EQ(run->snapshot().stages.size(), 4u);
  for (int i = 0; i < 3; ++i) {
    const Tensor crops = next_of<Tensor>(*run);
    ASSERT_EQ(crops.shape().size(), 4u);
    EXPECT_GE(crops.shape()[0], 1);
    EXPECT_EQ(crops.shape()[1], 256);
  }
}

// ------------------------------------------------------------------------------------------------ the work

TEST(Draw, IsTheSameForTheSameElementInTheSameStage) {
  StageSpec stage = waiting(10);
  stage.blocked = Distribution::lognormal(10 * kMs, 0.5);
  const auto blocked_ns = [&](int number, std::int64_t index) {
    return draw(stage, number, Item(index, 1, 0, {}), 0).blocked_ns;
  };
  EXPECT_EQ(blocked_ns(1, 7), blocked_ns(1, 7));
  EXPECT_NE(blocked_ns(1, 7), blocked_ns(1, 8));
  EXPECT_NE(blocked_ns(1, 7), blocked_ns(2, 7));
}

TEST(Draw, HasTheMeansOfTheSpec) {
  StageSpec stage = scenario_named("S13").process.chains.front().stages.front();
  double blocked = 0, cpu = 0, bytes = 0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    const Draw one = draw(stage, 1, Item(i, 1, 0, {}), 0);
    blocked += one.blocked_ns / kDraws;
    cpu += one.cpu_ns / kDraws;
    bytes += static_cast<double>(one.bytes) / kDraws;
  }
  EXPECT_NEAR(blocked, stage.blocked.mean, 0.03 * stage.blocked.mean);
  EXPECT_NEAR(cpu, stage.cpu.mean, 0.03 * stage.cpu.mean);
  EXPECT_NEAR(bytes, stage.result_bytes * stage.size.mean, 0.2 * stage.result_bytes * stage.size.mean);
}

TEST(Draw, PassesTheSizeOfItsInputOn) {
  StageSpec stage = computing(1);
  stage.time_follows_size = true;
  const Draw one = draw(stage, 1, Item(0, 10, 0, {}), 0);
  EXPECT_EQ(one.size, 10);
  EXPECT_EQ(one.bytes, static_cast<std::int64_t>(10 * stage.result_bytes));
  EXPECT_EQ(one.cpu_ns, 10 * kMs);
}

TEST(BurnCpu, UsesAsMuchOfTheThreadsCpuTimeAsAsked) {
  const std::int64_t before = thread_cpu_ns();
  burn_cpu(3e6);
  EXPECT_GE(thread_cpu_ns() - before, 3'000'000);
}

// Runs calls on threads of their own; nanoseconds until all have been served.
std::int64_t serve_at_once(RealDevice& device, int calls, double ns) {
  const std::int64_t start = now_ns();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < calls; ++i) threads.emplace_back([&] { device.serve(ns, 1); });
  }
  return now_ns() - start;
}

TEST(RealDevice, ServesNoMoreCallsAtOnceThanItHasSlots) {
  RealDevice device({.slots = 2});
  EXPECT_GE(serve_at_once(device, 6, 5e6), 15'000'000);
}

TEST(RealDevice, ServesOneCallAfterTheOtherWhereItIsALock) {
  RealDevice device({.rates = {200}});
  EXPECT_GE(serve_at_once(device, 3, 0), 14'000'000);  // 3 x 5 ms, and the first may count as late
}

TEST(InFlight, RemembersTheMostSinceItWasAsked) {
  InFlight calls;
  calls.enter();
  calls.enter();
  calls.leave();
  EXPECT_EQ(calls.take_most(), 2);
  EXPECT_EQ(calls.take_most(), 1);
}

}  // namespace
}  // namespace penstock::exam
