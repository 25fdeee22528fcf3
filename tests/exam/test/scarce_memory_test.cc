// The controller where memory is the bottleneck, beside settings made by hand: calls by Little's law at a rate that
// fits, and a window for the rest.
#include <gtest/gtest.h>

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/exam/test/worlds.h"

namespace penstock::exam {
namespace {

constexpr std::int64_t kEach = 1'000'000;  // bytes of a result

StageSpec varying(StageSpec stage, double variation, bool ordered) {
  stage.blocked = Distribution::lognormal(stage.blocked.mean, variation);
  stage.ordered = ordered;
  return stage;
}

struct Settings {  // of a stage
  int stage;
  std::int64_t calls, window;
};

ProcessSpec with_memory(ProcessSpec spec, std::int64_t elements) {
  for (StageSpec& stage : spec.chains[0].stages) stage.result_bytes = kEach;
  spec.chains[0].memory = elements * kEach;
  return spec;
}

double rate_tuned(const ProcessSpec& spec) { return rate_of(*tuned(spec), 60); }

double by_hand(const ProcessSpec& spec, const std::vector<Settings>& all) {
  SimulatedProcess process(spec, 1);
  for (const Settings& each : all) {
    process.run(0).knob("parallelism", each.stage).set(each.calls);
    process.run(0).knob("window", each.stage).set(each.window);
  }
  return rate_of(process, 60);
}

// Results that wait for a slow call before them would hold all the memory, and the stages that could use them up found
// none.
TEST(ScarceMemory, IsNotAllForResultsThatWaitForASlowCall) {
  StageSpec quick = computing(1);
  quick.ordered = false;
  auto spec = with_memory(
      process_of({varying(waiting(475), 1.44, true), quick, varying(waiting(133), 1, true), computing(4)}), 379);
  spec.host.cores = 1;
  spec.chains[0].open_io = 256;
  EXPECT_GT(rate_tuned(spec), 0.6 * by_hand(spec, {{1, 90, 250}, {3, 30, 60}}));
}

TEST(ScarceMemory, IsNotAllForTheFirstStageThatWaits) {
  const auto spec =
      with_memory(process_of({varying(waiting(17), 1.54, true), varying(waiting(17.6), 0.26, false)}), 39);
  EXPECT_GT(rate_tuned(spec), 0.8 * by_hand(spec, {{1, 10, 14}, {2, 12, 12}}));
}

// Each stage may ask for all that the others leave on average: what is further down comes first, and seldom do all want
// it at once.
TEST(ScarceMemory, MayBeAskedForByAllStagesOfAChain) {
  StageSpec reading = computing(0.3), resizing = computing(0.1);
  reading.cpu = Distribution::lognormal(0.3 * kMs, 2);
  auto spec = with_memory(process_of({reading, varying(waiting(19), 0.8, true), resizing}), 28);
  spec.host.cores = 16;
  EXPECT_GT(rate_tuned(spec),
            0.85 * by_hand(spec, {{1, 1, 2}, {2, 23, 30}, {3, 1, 2}}));  // on a model of the engine it was 0.9
}

// The CPUs bound the rate in the middle of the chain. What stands before their stage, and more than its share in the
// window behind it, would leave no room for those that use it up.
TEST(ScarceMemory, IsNotAllForWhatStandsBeforeAStageThatComputes) {
  for (const auto& [elements, first, second] :
       {std::tuple{25, 5, 11}, std::tuple{40, 10, 16}, std::tuple{60, 12, 24}}) {
    StageSpec decoding = computing(5);
    decoding.cpu = Distribution::lognormal(5 * kMs, 0.5);
    const StageSpec reading = varying(waiting(20), 0.5, true), asking = varying(waiting(50), 0.5, true);
    const auto spec = with_memory(process_of({reading, decoding, asking, computing(0.5)}), elements);
    const std::vector<Settings> all = {{1, first, first + 2}, {2, 2, 4}, {3, second, second + 4}, {4, 2, 4}};
    EXPECT_GT(rate_tuned(spec), 0.8 * by_hand(spec, all)) << elements;
  }
}

// Before a stage of many calls stand many inputs.
TEST(ScarceMemory, IsNotAllForWhatStandsBeforeTheBottleneck) {
  StageSpec first = computing(0.45), second = computing(2.4);
  first.ordered = false;
  first.cpu = Distribution::lognormal(0.45 * kMs, 2);
  second.cpu = Distribution::lognormal(2.4 * kMs, 1.8);
  auto spec = with_memory(process_of({first, second, varying(waiting(307), 1.2, false)}), 582);
  spec.host.cores = 8;
  spec.chains[0].open_io = 256;
  EXPECT_GT(rate_tuned(spec), 0.7 * by_hand(spec, {{2, 8, 32}, {3, 256, 256}}));
}

}  // namespace
}  // namespace penstock::exam
