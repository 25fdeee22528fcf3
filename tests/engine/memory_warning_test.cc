// A budget that is smaller than what the ops must hold.
#include "lib/runtime/memory_warning.h"

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using runtime::memory_warning;

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
  auto run = range(600).map([](std::int64_t) { return Tensor(DType::u8, {1000}); }).batch(100).start({.memory_bytes = 20'000});
  while (run.next()) {
  }
  const StageSnapshot batch = run.snapshot().stages.at(2);
  EXPECT_NEAR(static_cast<double>(batch.bytes_required), 100'000, 20'000);  // from a moving average
  EXPECT_NE(memory_warning(run.snapshot()), "");
}

}  // namespace
}  // namespace penstock
