#include "lib/core/call_clock.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <thread>

#include "lib/core/clock.h"
#include "lib/core/scheduler_file.h"
#include "tests/support/burn.h"

namespace penstock {
namespace {

using testing::burn;

void stay_on_one_cpu() {
  cpu_set_t all, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(all), &all), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
}

TEST(CallClock, CountsWhatIsComputedBetweenItsReadings) {
  CallClock clock;
  burn(50'000'000);
  clock.begin(false);
  const std::int64_t before = thread_cpu_ns();
  burn(20'000'000);
  const std::int64_t least = thread_cpu_ns() - before;
  const std::int64_t used = clock.end().cpu_ns;
  EXPECT_GE(used, least);
  EXPECT_LE(used, thread_cpu_ns() - before + 10'000'000) << "nothing of what came before";
}

// Two threads that both want the same CPU: each waits while the other one has it.
TEST(CallClock, CountsTheTimeInWhichNoCoreWasFree) {
  if (!SchedulerFile().delay_ns()) GTEST_SKIP() << "this system has no /proc/thread-self/schedstat";
  std::int64_t delay = 0;
  std::thread([&delay] {
    stay_on_one_cpu();
    CallClock clock;
    clock.begin(false);
    std::jthread other([] { burn(400'000'000); });
    burn(200'000'000);
    delay = clock.end().delay_ns;
  }).join();
  EXPECT_GE(delay, 20'000'000);
}

TEST(CallClock, CountsWaitsWhereItIsAskedTo) {
  CallClock with, without;
  with.begin(true);
  without.begin(false);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GT(with.end().waits, 0);
  EXPECT_EQ(without.end().waits, 0);
}

constexpr std::int64_t kUs = 1'000, kMs = 1'000'000;

CallClock::Reading reading(std::int64_t begun_ns, std::int64_t lasted_ns, std::int64_t cpu_ns, std::int64_t delay_ns) {
  return {begun_ns, begun_ns + lasted_ns, {cpu_ns, delay_ns, 0}};
}

// A call of 10 us, and 8 ms in which the thread lost its core while its clocks were read: no delay of the call.
TEST(CallClock, LeavesOutADelayThatComesOfAsking) {
  const auto first = reading(0, 2 * kUs, 100 * kUs, 40 * kMs);
  const auto last = reading(12 * kUs, 8 * kMs, 110 * kUs, 48 * kMs);
  EXPECT_TRUE(CallClock::is_disturbed(last));
  EXPECT_EQ(CallClock::between(first, last).cpu_ns, 10 * kUs);
  EXPECT_EQ(CallClock::between(first, last).delay_ns, 0);
}

TEST(CallClock, KeepsADelayOfTheCall) {
  const auto first = reading(0, 2 * kUs, 100 * kUs, 40 * kMs);
  const auto last = reading(8 * kMs, 3 * kUs, 110 * kUs, 47 * kMs);
  EXPECT_FALSE(CallClock::is_disturbed(last));
  EXPECT_EQ(CallClock::between(first, last).delay_ns, 7 * kMs);
}

}  // namespace
}  // namespace penstock
