// What clocks have told of one call.
#include "lib/exec/call_sample.h"

#include <gtest/gtest.h>

namespace penstock::exec {
namespace {

TEST(CallSample, HasNotWaitedAsFarAsIsKnown) {
  const CallSample sample;
  EXPECT_FALSE(sample.is_taken);
  EXPECT_EQ(sample.waited_ns(1'000'000), 0);
}

TEST(CallSample, WaitedWhileItNeitherRanNorWasKeptFromACore) {
  CallSample sample;
  sample.note({.cpu_ns = 100, .delay_ns = 50, .waits = 1});
  EXPECT_EQ(sample.waited_ns(400), 250);
  EXPECT_EQ(sample.waited_ns(120), 0) << "clocks differ a little";
}

TEST(CallSample, HasNotWaitedIfItNeverGaveTheCpuUpByItself) {
  CallSample sample;
  sample.note({.cpu_ns = 100, .delay_ns = 50, .waits = 1});
  sample.note({.cpu_ns = 100, .delay_ns = 0, .waits = 0});
  EXPECT_EQ(sample.waited_ns(400), 0) << "where the system does not tell of delays, it was preempted";
}

}  // namespace
}  // namespace penstock::exec
