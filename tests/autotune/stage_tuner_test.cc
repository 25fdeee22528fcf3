// How many calls of one stage there are to be.
#include "autotune/stage_tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/autotune/hand_made.h"

namespace penstock::autotune {
namespace {

using ::testing::Contains;
using ::testing::Not;

// A stage whose calls wait for a device that serves so many of them at once, 10 ms each, and a consumer that takes what
// it gives and waits for more. In ticks of 10 ms.
class Device {
 public:
  explicit Device(std::int64_t slots) : slots_(slots) {
    stage_.parallel = stage_.on_pool = stage_.form_is_known = true;
    stage_.parallelism = range_.most = 16;
    traffic_.wait_share = 0.5;
    traffic_.all_known = true;
    traffic_.visits = {1};
  }

  void tick() {
    const std::int64_t done = std::min(stage_.parallelism, slots_), call_ns = stage_.parallelism * 10 * kMs / done;
    stage_.running = stage_.parallelism;
    stage_.oldest_call_ns = stage_.median_call_ns = call_ns;
    stage_.completed += done;
    stage_.made += done;
    stage_.slot_ns += stage_.parallelism * 10 * kMs;
    stage_.service_times[service_time_bucket(call_ns)] += done;
    stage_.samples += done;
    stage_.sampled_wall_ns += done * call_ns;
    stage_.sampled_cpu_ns += done * cpu_ns_;
    now_.consumer.wait_ns += 5 * kMs;
    now_.consumer.taken += done;
    look();
  }
  // The consumer asks for nothing; the buffers are full.
  void rest() {
    stage_.running = 0;
    look();
  }
  // No call comes to an end, while the consumer waits or asks for nothing.
  void hang(bool waits) {
    stage_.running = stage_.parallelism;
    stage_.slot_ns += stage_.parallelism * 10 * kMs;
    stage_.oldest_call_ns = stage_.median_call_ns = 2 * kSecond;
    if (waits) now_.consumer.wait_ns += 10 * kMs;
    look();
  }
  void grow_to(std::int64_t slots) { slots_ = slots; }
  void ask_for(double elements_per_second) { traffic_.attainable = elements_per_second; }
  void allow(std::int64_t calls) { range_.most = calls; }
  void begin_with(std::int64_t calls) { stage_.parallelism = calls; }
  void keep_calls() { range_.least = stage_.parallelism; }
  void use_cpu(std::int64_t ns) { cpu_ns_ = ns; }
  void run(int seconds) {
    for (int i = 0; i < 100 * seconds; ++i) tick();
  }
  void run_until(Reason reason) {
    for (int i = 0; i < 10'000 && !std::ranges::count(reasons, reason); ++i) tick();
  }
  double call_s() const { return tuner_.call_s(); }
  double calm_s() const { return tuner_.calm_s(); }
  std::int64_t calls() const { return stage_.parallelism; }

  std::vector<Reason> reasons;  // of all moves

 private:
  void look() {
    now_.time_ns += 10 * kMs;
    now_.stages = {stage_};
    Traffic seen;
    meter_.read(now_, {0}, seen);
    traffic_.idle = seen.idle;
    tuner_.observe(now_, stage_, traffic_);
    const auto wish = tuner_.wish(stage_, traffic_, range_, true);
    if (!wish) return;
    stage_.parallelism = wish->to;
    reasons.push_back(wish->reason);
  }

  std::int64_t slots_;
  std::int64_t cpu_ns_ = 0;
  Snapshot now_;
  StageSnapshot stage_;
  TrafficMeter meter_;
  Traffic traffic_;
  StageTuner::CallRange range_;
  StageTuner tuner_{0};
};

TEST(StageTuner, FindsOutThatADeviceNeedsFewerCalls) {
  Device device(8);
  device.run(30);
  EXPECT_GE(device.calls(), 8);
  EXPECT_LE(device.calls(), 10);
}

// A lock behind the calls might be at its limit with the next one.
TEST(StageTuner, BelievesTheFirstSampleOfFewCallsForFourTimesAsManyAtMost) {
  Device device(64);
  device.allow(64);
  device.begin_with(4);
  device.run_until(Reason::feed_forward);
  EXPECT_EQ(device.calls(), 16);
}

// The calls last as long as before, and that is all that the rate shows.
TEST(StageTuner, NoticesThatCallsComputeLonger) {
  Device device(16);
  device.use_cpu(kMs);
  device.run(30);
  ASSERT_GT(device.calm_s(), 25);
  device.use_cpu(8 * kMs);
  device.run(10);
  EXPECT_LT(device.calm_s(), 11);
}

// More calls than it serves have been tried in vain. Then they compute more, so that all is to be found out anew, and
// the device has grown.
TEST(StageTuner, ForgetsALimitOfAWorldThatHasChanged) {
  Device device(4);
  device.allow(64);
  device.use_cpu(kMs);
  device.run_until(Reason::knee);
  ASSERT_THAT(device.reasons, Contains(Reason::knee));
  device.run(10);
  ASSERT_LE(device.calls(), 8);
  device.grow_to(64);
  device.use_cpu(8 * kMs);
  device.run(3);
  EXPECT_GE(device.calls(), 48);
}

TEST(StageTuner, TriesMoreCallsThatBringNothingLessAndLessOften) {
  Device device(8);
  device.run(300);
  const auto probes = std::ranges::count(device.reasons, Reason::up_probe);
  EXPECT_GE(probes, 2);
  EXPECT_LE(probes, 6) << "16, 32, 64 and 128 s after one another";
}

// Eight ticks are two samples, of 64 calls each.
TEST(StageTuner, TakesCallsBackOnlyWhereThreeSamplesInARowAskForFewer) {
  Device device(16);
  device.keep_calls();
  device.run(3);
  for (int i = 0; i < 20; ++i) {
    device.ask_for(50);
    for (int tick = 0; tick < 8; ++tick) device.tick();
    device.ask_for(kUnbounded);
    for (int tick = 0; tick < 8; ++tick) device.tick();
  }
  EXPECT_THAT(device.reasons, Not(Contains(Reason::idle)));
  device.ask_for(50);
  device.run(1);
  EXPECT_THAT(device.reasons, Contains(Reason::idle));
}

// Its calls are as quick as before, and nothing but trying shows that there is room for more of them.
TEST(StageTuner, FindsOutThatADeviceHasGrown) {
  Device device(4);
  device.allow(64);
  device.run_until(Reason::knee);
  device.run(10);
  ASSERT_LE(device.calls(), 8);
  device.grow_to(64);
  device.run(15);
  EXPECT_GE(device.calls(), 48);
}

// As many calls as Little's law has it are not enough, and it has come to four times as many. Of other calls nothing of
// that is known.
TEST(StageTuner, ForgetsWhatTheLawLackedInAWorldThatHasChanged) {
  Device device(64);
  device.allow(64);
  device.use_cpu(kMs);
  device.ask_for(1000);
  device.run(20);
  ASSERT_GE(device.calls(), 40);
  device.reasons.clear();
  device.use_cpu(8 * kMs);
  device.run(2);
  ASSERT_FALSE(device.reasons.empty());
  EXPECT_EQ(device.reasons.front(), Reason::idle) << "fewer at once, and not by a probe";
}

TEST(StageTuner, DoesNotTakeAPauseOfTheConsumerForTheFailureOfAProbe) {
  for (const int ticks : {5, 10, 20, 40, 60, 1'000}) {
    Device device(8);
    device.run_until(Reason::trim_probe);
    ASSERT_THAT(device.reasons, Contains(Reason::trim_probe));
    device.tick();
    device.tick();
    for (int i = 0; i < ticks; ++i) device.rest();
    device.run(1);
    EXPECT_THAT(device.reasons, Not(Contains(Reason::restore))) << ticks;
  }
}

// It needs 400 completions, and there are 360 from one pause to the next.
TEST(StageTuner, ComesToAnEndWithAProbeThatIsInterruptedAgainAndAgain) {
  Device device(4);
  for (int i = 0; i < 60; ++i) {
    for (int tick = 0; tick < 90; ++tick) device.tick();
    for (int tick = 0; tick < 50; ++tick) device.rest();
  }
  const auto probes = std::ranges::count(device.reasons, Reason::trim_probe);
  ASSERT_GE(probes, 1);
  EXPECT_GE(probes + std::ranges::count(device.reasons, Reason::restore), 2) << "one that does not end is the last one";
}

TEST(StageTuner, DoesNotCountAPauseToTheTimeInWhichCallsAreTooOld) {
  Device device(2);
  device.keep_calls();
  device.run(10);
  ASSERT_GT(device.calm_s(), 9);
  for (int i = 0; i < 100; ++i) device.hang(false);
  device.hang(true);
  EXPECT_GT(device.calm_s(), 9) << "seen once";
  for (int i = 0; i < 20; ++i) device.hang(true);
  EXPECT_LT(device.calm_s(), 1);
}

// How long the calls of a file system that hung for a while will last was a guess.
TEST(StageTuner, SeesSoonThatCallsAreQuickAgain) {
  for (const int ticks : {20, 200}) {
    Device device(16);
    device.keep_calls();
    device.run(10);
    for (int i = 0; i < ticks; ++i) device.hang(true);
    ASSERT_GT(device.call_s(), 2) << "seconds, as its calls have lasted so long";
    for (int i = 0; i < 50; ++i) device.tick();
    EXPECT_LT(device.call_s(), 0.1) << ticks;
  }
}

// Three fifths of twenty calls would be less than the user allows; four fifths are not.
TEST(StageTuner, TriesWithAFewLessWhereFarFewerAreNotAllowed) {
  Device device(12);
  device.begin_with(14);
  device.keep_calls();
  device.allow(20);
  device.begin_with(20);
  device.run(10);
  EXPECT_THAT(device.reasons, Contains(Reason::trim_probe));
}

// What was tried has been broken off: there is nothing to go back to.
TEST(StageTuner, EndsAProbeWhereFewerCallsAreAllowed) {
  Device device(8);
  device.run_until(Reason::trim_probe);
  device.allow(4);
  device.tick();
  EXPECT_EQ(device.calls(), 4);
  device.reasons.clear();
  device.run(2);
  ASSERT_FALSE(device.reasons.empty());
  EXPECT_NE(device.reasons.front(), Reason::restore);
}

}  // namespace
}  // namespace penstock::autotune
