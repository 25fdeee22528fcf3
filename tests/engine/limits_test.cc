// A run takes the limits of the moment in which it starts.
#include <sched.h>

#include <optional>

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

int cpus_in(const cpu_set_t& mask) { return CPU_COUNT(&mask); }

// Leaves this thread, and so the process where it is its first one, the first CPU of those that it has.
class OnOneCpu {
 public:
  OnOneCpu() {
    ::sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && cpus_in(one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &one);
    }
    ::sched_setaffinity(0, sizeof(one), &one);
  }
  ~OnOneCpu() { ::sched_setaffinity(0, sizeof(before_), &before_); }
  OnOneCpu(const OnOneCpu&) = delete;
  OnOneCpu& operator=(const OnOneCpu&) = delete;

  int cpus_before() const { return cpus_in(before_); }

 private:
  cpu_set_t before_;
};

int cpus_of_this_thread() {
  cpu_set_t mask;
  ::sched_getaffinity(0, sizeof(mask), &mask);
  return cpus_in(mask);
}

std::int64_t permits_of(IntegerRun& run) {
  for (Knob& knob : run.knobs()) {
    if (knob.name == "cpu_slots") return knob.get();
  }
  return -1;
}

std::int64_t permits_of_a_new_run() {
  auto run = range(3).map([](std::int64_t value) { return value; }).start({.tune = false});
  run.next();
  return permits_of(run);
}

// This one's arena is as wide as when it began. The pause is longer than the controller takes to look again.
TEST(Limits, ThatRiseArePlannedWithByTheNextRunAndNotByThisOne) {
  const std::int64_t before = permits_of_a_new_run();
  std::optional<IntegerRun> run;
  {
    const OnOneCpu on_one_cpu;
    if (on_one_cpu.cpus_before() < 2 || before < 2) GTEST_SKIP() << "needs two CPUs";
    std::this_thread::sleep_for(200ms);
    run = range(1'000'000).map([](std::int64_t value) { return value; }).start();
    run->next();
  }
  std::this_thread::sleep_for(1500ms);
  EXPECT_LE(run->snapshot().cpu_budget, 1);
  EXPECT_EQ(permits_of(*run), 1);
  EXPECT_EQ(permits_of_a_new_run(), before);
  auto next = range(3).map([](std::int64_t value) { return value; }).start();
  next.next();
  EXPECT_GT(next.snapshot().cpu_budget, 1);
}

TEST(Limits, OfTheMomentHoldForARunAfterAnIdleTime) {
  const std::int64_t before = permits_of_a_new_run();
  {
    const OnOneCpu on_one_cpu;
    if (on_one_cpu.cpus_before() < 2 || before < 2) GTEST_SKIP() << "needs two CPUs";
    std::this_thread::sleep_for(200ms);
    EXPECT_EQ(permits_of_a_new_run(), 1);
  }
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(permits_of_a_new_run(), before);
}

// The first run is begun by a thread that may use one CPU; the process's own mask counts.
TEST(Limits, ThreadsRunWhereTheProcessMayWhoeverBeginsTheFirstRun) {
  const auto cpus_of_calls = [] {
    std::vector<int> cpus;
    for (const int count :
         range(20).map([](std::int64_t) { return cpus_of_this_thread(); }, 2, {.blocks = true}).map([](int count) {
           return std::min(count, cpus_of_this_thread());
         })) {
      cpus.push_back(count);
    }
    return cpus;
  };
  const int before = cpus_of_this_thread();
  if (before < 2) GTEST_SKIP() << "needs two CPUs";
  std::thread([&] {
    const OnOneCpu on_one_cpu;
    EXPECT_THAT(cpus_of_calls(), ::testing::Each(before));
  }).join();
  EXPECT_THAT(cpus_of_calls(), ::testing::Each(before));
}

}  // namespace
}  // namespace penstock
