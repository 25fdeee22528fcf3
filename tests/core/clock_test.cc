#include "lib/core/clock.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <chrono>
#include <optional>
#include <thread>

#include "lib/core/scheduler_file.h"

namespace penstock {
namespace {

void burn(std::int64_t nanoseconds) {
  const std::int64_t end = thread_cpu_ns() + nanoseconds;
  while (thread_cpu_ns() < end) {
  }
}

TEST(Clock, IsTheSteadyClock) {
  const std::int64_t before = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::int64_t now = now_ns();
  const std::int64_t after = std::chrono::steady_clock::now().time_since_epoch().count();
  EXPECT_LE(before, now);
  EXPECT_LE(now, after);
}

TEST(ThreadCpu, DoesNotCountSleep) {
  const std::int64_t before = thread_cpu_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LT(thread_cpu_ns() - before, 25'000'000);
}

TEST(ThreadCpu, CountsOnlyItsOwnThread) {
  const std::int64_t before = thread_cpu_ns();
  std::thread([] { burn(50'000'000); }).join();
  EXPECT_LT(thread_cpu_ns() - before, 25'000'000);
}

void stay_on_one_cpu() {
  cpu_set_t all, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(all), &all), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
}

// Two threads that both want the same CPU: each waits while the other one has it.
TEST(ThreadUse, CountsTheTimeInWhichNoCoreWasFree) {
  if (!SchedulerFile().delay_ns()) GTEST_SKIP() << "this system has no /proc/thread-self/schedstat";
  std::int64_t delay = 0;
  std::thread([&delay] {
    stay_on_one_cpu();
    const ThreadUse before = thread_use(false);
    std::jthread other([] { burn(400'000'000); });
    burn(200'000'000);
    delay = thread_use(false).delay_ns - before.delay_ns;
  }).join();
  EXPECT_GE(delay, 20'000'000);
}

TEST(ThreadUse, CountsWaitsWhereItIsAskedTo) {
  const ThreadUse before = thread_use(true);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GT(thread_use(true).waits, before.waits);
  EXPECT_EQ(thread_use(false).waits, 0);
}

TEST(SchedulerFile, OfAThreadThatHasEndedTellsNothing) {
  std::optional<SchedulerFile> file;
  std::thread([&file] { file.emplace(); }).join();
  EXPECT_FALSE(file->delay_ns());
}

TEST(ProcessCpu, CountsAllThreads) {
  const std::int64_t before = process_cpu_ns();
  std::thread([] { burn(20'000'000); }).join();
  EXPECT_GE(process_cpu_ns() - before, 20'000'000);
}

// Not from the heap: a sanitizer's may give other memory back at the same moment.
TEST(Rss, GrowsWithMemoryThatIsTouched) {
  constexpr std::size_t bytes = 64 << 20;
  const std::size_t before = rss_bytes();
  ASSERT_GT(before, 0u);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const std::size_t after = rss_bytes();
  ::munmap(memory, bytes);
  EXPECT_GE(after, before + bytes - (4 << 20));
}

}  // namespace
}  // namespace penstock
