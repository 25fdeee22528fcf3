// Runs beside oneTBB as the application uses it: they never need one of its workers.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <barrier>
#include <future>

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;
using oneapi::tbb::global_control;

// What comes, in full; what has not come after a long while is a hang.
Texts patiently(const Dataset<std::int64_t>& dataset, const RunOptions& options = {}) {
  auto run = dataset.start(options);
  Texts texts;
  for (;;) {
    auto next = run.next_for(kPatience);
    if (next.timed_out()) return {"hang"};
    if (next.at_end()) return texts;
    texts.push_back(text_of(*next.value));
  }
}

// All threads that TBB has are in the application's tasks when their runs need somebody to work.
TEST(HostTbb, ConsumersInsideAllThreadsOfAHostsArenaGetTheirElements) {
  constexpr int kThreads = 3;
  const global_control limit(global_control::max_allowed_parallelism, kThreads);
  std::barrier together(kThreads);
  std::vector<Texts> texts(kThreads);
  oneapi::tbb::task_arena arena(kThreads);
  arena.execute([&] {
    oneapi::tbb::parallel_for(
        0, kThreads,
        [&](int i) {
          together.arrive_and_wait();
          texts[static_cast<std::size_t>(i)] = patiently(range(100).map(plus_one).map(plus_one));
        },
        oneapi::tbb::simple_partitioner());
  });
  for (const Texts& each : texts) EXPECT_EQ(each, numbers(2, 102));
}

// The call has the only thread that TBB would give, and waits for a run on another one.
TEST(HostTbb, ALimitBelowOurPermitsLeavesNoRunWithoutAThread) {
  const global_control limit(global_control::max_allowed_parallelism, 2);
  const auto reads_another = [](std::int64_t x) {
    return x + std::async(std::launch::async, [] {
                 return std::int64_t(patiently(range(5).map(plus_one), {.threads = 3}).size());
               }).get();
  };
  EXPECT_EQ(patiently(range(3).map(reads_another, 1, {.blocks = false}), {.threads = 3, .tune = false}), numbers(5, 8));
}

TEST(HostTbb, KeepsTheLimitThatTheApplicationHasSet) {
  const auto allowed = [] { return global_control::active_value(global_control::max_allowed_parallelism); };
  const std::size_t before = allowed();
  auto run = range(100).map(plus_one).start({.threads = static_cast<int>(before) + 3});
  run.next();
  EXPECT_EQ(allowed(), before);
}

// As wide as the run's permits, whoever works there.
TEST(HostTbb, ParallelLoopInsideAFunctionHasTheWidthOfTheRun) {
  auto run = range(3)
                 .map([](std::int64_t) { return std::int64_t{oneapi::tbb::this_task_arena::max_concurrency()}; })
                 .start({.threads = 2});
  EXPECT_EQ(rest_of(run), Texts(3, "2"));
}

}  // namespace
}  // namespace penstock
