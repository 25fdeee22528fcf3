// A budget that is smaller than what the ops must hold.
#include "lib/runtime/memory_warning.h"

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;
using runtime::memory_warning;
using ::testing::HasSubstr;

Snapshot snapshot_of(std::int64_t limit, std::int64_t batch_bytes) {
  Snapshot snapshot;
  snapshot.memory_limit = limit;
  snapshot.stages.resize(3);
  snapshot.stages[1].bytes_required = 1000;
  snapshot.stages[2] = {.name = "batch", .position = 4, .bytes_required = batch_bytes};
  return snapshot;
}

TEST(MemoryWarning, IsSilentWhereThereIsEnough) {
  EXPECT_EQ(memory_warning(snapshot_of(100 << 20, (100 << 20) - 1000)), "");
}

TEST(MemoryWarning, NamesTheOpAndTheNumbers) {
  const std::string text = memory_warning(snapshot_of(64 << 20, 96 << 20));
  EXPECT_THAT(text, HasSubstr("96 MiB of it batch (op 4), but its memory budget is 64 MiB"));
  EXPECT_THAT(text, HasSubstr("RunOptions::memory_bytes"));
}

TEST(MemoryWarning, KnowsWhatABatchMustHold) {
  auto run =
      range(600).map([](std::int64_t) { return Tensor(DType::u8, {1000}); }).batch(100).start({.memory_bytes = 20'000});
  while (run.next()) {
  }
  const StageSnapshot batch = run.snapshot().stages.at(2);
  EXPECT_NEAR(static_cast<double>(batch.bytes_required), 100'000, 20'000);  // from a moving average
  EXPECT_NE(memory_warning(run.snapshot()), "");
}

TEST(MemoryWarning, KnowsWhatAShuffleOfSmallElementsMustHold) {
  const auto all = [](std::int64_t) { return true; };
  auto run = range(100'000).filter(all).shuffle(50'000).start({.tune = false});
  run.next();
  const StageSnapshot shuffle = run.snapshot().stages.back();
  EXPECT_NEAR(static_cast<double>(shuffle.bytes_required), static_cast<double>(shuffle.bytes_held),
              0.2 * static_cast<double>(shuffle.bytes_held));
}

// It is said once, and early: a quarter of the batch has come.
TEST(MemoryWarning, SaysWhatWillBeNeededAndNotOnlyWhatHasCome) {
  Snapshot snapshot = snapshot_of(64 << 20, 100 << 20);
  snapshot.stages[2].bytes_required_in_all = 400 << 20;
  EXPECT_THAT(memory_warning(snapshot), HasSubstr("400 MiB of it batch (op 4)"));
}

// Owns memory that nobody can see.
struct Clip {
  std::vector<float> samples;
};

TEST(MemoryWarning, NamesATypeWhoseMemoryCannotBeSeen) {
  const auto clips = [](std::int64_t) { return Clip{std::vector<float>(100)}; };
  auto run = range(3).map(clips).start();
  while (run.next()) {
  }
  const StageSnapshot stage = run.snapshot().stages.at(1);
  EXPECT_THAT(stage.unseen_type, HasSubstr("Clip"));
  EXPECT_THAT(runtime::unseen_memory_warning(stage),
              AllOf(HasSubstr("map (op 1)"), HasSubstr("Clip"), HasSubstr("ps::Fields")));
  const auto found = run.explain().warnings;
  EXPECT_TRUE(std::ranges::any_of(found, [](const auto& warning) {
    return warning.problem == Explanation::Problem::unseen_memory && warning.stage == 1;
  }));
  EXPECT_THAT(to_text(run.explain()), HasSubstr("Clip"));
}

// A struct of penstock's, so to say: all members of it are told, but one of them is such a clip.
TEST(MemoryWarning, NamesThePartOfATypeThatCannotBeSeen) {
  auto run = range(3).map([](std::int64_t value) { return std::pair(value, std::vector<Clip>(2)); }).start();
  while (run.next()) {
  }
  EXPECT_THAT(run.snapshot().stages.at(1).unseen_type,
              AllOf(HasSubstr("std::pair<"), HasSubstr(" (because of "), HasSubstr("Clip in it)")));
}

TEST(MemoryWarning, IsSilentAboutStructsThatOwnNothing) {
  struct Box {
    float left, right;
  };
  auto run = range(3).map([](std::int64_t) { return std::vector<Box>(2); }).start();
  while (run.next()) {
  }
  EXPECT_EQ(run.snapshot().stages.at(1).unseen_type, "");
}

TEST(MemoryWarning, BelievesAHintForATypeWhoseMemoryCannotBeSeen) {
  const auto clips = [](std::int64_t) { return Clip{std::vector<float>(100)}; };
  const auto all = [](const Clip&) { return true; };
  auto run = range(100)
                 .map(clips, {.bytes_hint = [](std::int64_t) { return std::size_t{400}; }})
                 .filter(all)
                 .prefetch(100)
                 .start();
  run.next();
  ASSERT_TRUE(eventually([&run] { return run.snapshot().stages.at(2).made == 100; }));
  for (const StageSnapshot& stage : run.snapshot().stages) EXPECT_EQ(stage.unseen_type, "") << stage.name;
  EXPECT_GE(run.stats().memory_peak, 90 * 400U);
}

TEST(MemoryWarning, IsSilentAboutTypesThatAreSeen) {
  auto run =
      range(3).map([](std::int64_t value) { return std::vector<std::string>(3, std::to_string(value)); }).start();
  while (run.next()) {
  }
  for (const StageSnapshot& stage : run.snapshot().stages) EXPECT_EQ(runtime::unseen_memory_warning(stage), "");
}

}  // namespace
}  // namespace penstock
