#include "lib/core/clock.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <optional>
#include <thread>

#include "lib/core/scheduler_file.h"
#include "tests/support/burn.h"
#include "tests/support/ended_thread.h"

namespace penstock {
namespace {

using testing::burn;

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

TEST(SchedulerFile, OfAThreadThatHasEndedTellsNothing) {
  std::optional<SchedulerFile> file;
  ASSERT_TRUE(testing::run_on_a_thread_and_await_its_end([&file] { file.emplace(); }));
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
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const std::size_t after = rss_bytes();
  ::munmap(memory, bytes);
  EXPECT_GE(after, before + bytes - (4 << 20));
}

}  // namespace
}  // namespace penstock
