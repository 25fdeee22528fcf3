// An average that notices changes.
#include "autotune/tracked.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace penstock::autotune {
namespace {

// Samples around `mean` with that relative noise, until an alarm; -1 if there is none in `most`.
int samples_until_alarm(Tracked& tracked, double mean, double noise, int most, std::mt19937& random) {
  std::normal_distribution<double> error(0, noise);
  for (int i = 1; i <= most; ++i)
    if (tracked.add(mean * std::exp(error(random)), noise)) return i;
  return -1;
}

TEST(Tracked, BeginsWithTheFirstSample) {
  Tracked tracked;
  EXPECT_FALSE(tracked.known());
  EXPECT_FALSE(tracked.add(7, 0.1));
  EXPECT_TRUE(tracked.known());
  EXPECT_EQ(tracked.value(), 7);
}

TEST(Tracked, ApproachesWhatItSees) {
  Tracked tracked;
  tracked.set(10);
  for (int i = 0; i < 40; ++i) EXPECT_FALSE(tracked.add(10.3, 0.2));
  EXPECT_NEAR(tracked.value(), 10.3, 0.01);
}

TEST(Tracked, SeldomTakesNoiseForAChange) {
  std::mt19937 random(1);
  int alarms = 0;
  for (int run = 0; run < 100; ++run) {
    Tracked tracked;
    tracked.set(10);
    alarms += samples_until_alarm(tracked, 10, 0.1, 100, random) > 0;
  }
  EXPECT_LE(alarms, 3);  // of 100 runs of 100 samples
}

TEST(Tracked, SeesAChangeByFourTimesItsNoiseWithinSixSamples) {
  std::mt19937 random(2);
  for (int run = 0; run < 100; ++run) {
    Tracked tracked;
    tracked.set(10);
    const int samples = samples_until_alarm(tracked, 10 * std::exp(0.4), 0.1, 100, random);
    EXPECT_GE(samples, 1);
    EXPECT_LE(samples, 6);
  }
}

TEST(Tracked, GoesOnFromTheNewValueAfterAnAlarm) {
  Tracked tracked;
  tracked.set(10);
  while (!tracked.add(80, 0.1)) {
  }
  EXPECT_EQ(tracked.value(), 80);
  EXPECT_FALSE(tracked.add(80, 0.1));
}

TEST(Tracked, SeesAFallAsWellAsARise) {
  Tracked tracked;
  tracked.set(10);
  EXPECT_TRUE(tracked.add(1, 0.1));
  EXPECT_EQ(tracked.value(), 1);
}

}  // namespace
}  // namespace penstock::autotune
