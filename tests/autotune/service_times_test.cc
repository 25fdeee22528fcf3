// How much service times differ, from counts by half octaves.
#include "autotune/service_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <penstock/service_times.h>

namespace penstock::autotune {
namespace {

// Values, and the counts that a snapshot has of them.
struct Sampled {
  std::vector<double> values;  // ns
  ServiceTimeTail tail;

  double mean() const {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
  double variation() const {
    double squares = 0;
    for (const double value : values) squares += value * value;
    return std::sqrt(squares / static_cast<double>(values.size()) / (mean() * mean()) - 1);
  }
  // What calls take beyond `time`, per call.
  double excess(double time) const {
    double sum = 0;
    for (const double value : values) sum += std::max(0.0, value - time);
    return sum / static_cast<double>(values.size());
  }
};

template <class Distribution> Sampled sampled(Distribution milliseconds, int count) {
  std::mt19937 random(3);
  Sampled result;
  ServiceTimes counts = {};
  for (int i = 0; i < count; ++i) {
    result.values.push_back(milliseconds(random) * 1e6);
    ++counts[service_time_bucket(static_cast<std::int64_t>(result.values.back()))];
  }
  result.tail.add(ServiceTimes{}, counts);
  return result;
}

TEST(ServiceTimeBucket, HoldsHalfAnOctave) {
  EXPECT_EQ(service_time_bucket(0), 0U);
  EXPECT_EQ(service_time_bucket(1'400), 0U);
  EXPECT_EQ(service_time_bucket(1'500), 1U);
  EXPECT_EQ(service_time_bucket(2'001), 2U);
  EXPECT_EQ(service_time_bucket(std::int64_t{1} << 62), ServiceTimes{}.size() - 1);
  for (std::size_t i = 1; i < ServiceTimes{}.size(); ++i) {
    EXPECT_EQ(service_time_bucket(static_cast<std::int64_t>(service_time_from(i) * 1.001)), i);
  }
}

TEST(ServiceTimeTail, TellsTheVariation) {
  const Sampled result = sampled(std::lognormal_distribution<double>(2, 0.5), 20'000);
  EXPECT_NEAR(result.tail.variation(), result.variation(), 0.15 * result.variation());
}

TEST(ServiceTimeTail, TellsHowLongToBePatientWithSlowCalls) {
  for (const double spread : {0.3, 0.5, 1.5}) {
    const Sampled result = sampled(std::lognormal_distribution<double>(2, spread), 20'000);
    const double rate = 1'000, share = 0.01;
    const double time = result.tail.patience_over_mean(rate, share) * result.mean();
    EXPECT_LE(rate * result.excess(1.2 * time) / 1e9, share) << spread;
    EXPECT_GE(rate * result.excess(0.83 * time) / 1e9, share) << spread;
  }
}

// A window that one slow call has widened stays wide.
TEST(ServiceTimeTail, TakesASingleSlowCallForChance) {
  ServiceTimes calls = {};
  calls[service_time_bucket(10'000'000)] = 500;
  ServiceTimeTail without, with, with_two;
  without.add(ServiceTimes{}, calls);
  ++calls[service_time_bucket(60'000'000)];
  with.add(ServiceTimes{}, calls);
  ++calls[service_time_bucket(60'000'000)];
  with_two.add(ServiceTimes{}, calls);
  EXPECT_NEAR(with.patience_over_mean(1'000, 0.01), without.patience_over_mean(1'000, 0.01), 0.05);
  EXPECT_GT(with_two.patience_over_mean(1'000, 0.01), 4);
}

TEST(ServiceTimeTail, TellsWhatFewCallsReach) {
  Sampled result = sampled(std::lognormal_distribution<double>(2, 0.5), 20'000);
  std::sort(result.values.begin(), result.values.end());
  for (const double chance : {0.5, 0.1, 0.01}) {
    const double quantile = result.values[static_cast<std::size_t>((1 - chance) * 20'000)] / 1e9;
    EXPECT_GE(result.tail.reached_with(chance), quantile) << chance;
    EXPECT_LE(result.tail.reached_with(chance), 1.42 * quantile) << chance << ": by half octaves";
  }
  EXPECT_GT(result.tail.reached_with(1e-8), result.values.back() / 1e9) << "rarer than all that was seen";
  EXPECT_DOUBLE_EQ(ServiceTimeTail().reached_with(0.01), 0);
}

TEST(ServiceTimeTail, IsMorePatientTheMoreCallsThereAre) {
  const Sampled result = sampled(std::lognormal_distribution<double>(2, 0.5), 20'000);
  EXPECT_GT(result.tail.patience_over_mean(2'000, 0.01), result.tail.patience_over_mean(20, 0.01));
}

TEST(ServiceTimeTail, ForgetsCallsOfLongAgo) {
  ServiceTimes uneven = {}, even = {};
  uneven[service_time_bucket(1'000'000)] = uneven[service_time_bucket(64'000'000)] = 500'000;
  even[service_time_bucket(8'000'000)] = 10'000;
  ServiceTimeTail tail;
  tail.add(ServiceTimes{}, uneven);
  ASSERT_GT(tail.variation(), 0.9);
  for (int i = 0; i < 100; ++i) tail.add(ServiceTimes{}, even);
  EXPECT_LT(tail.variation(), 0.1) << "as many calls that take 8 ms each";
}

TEST(ServiceTimeTail, AssumesSomethingModestBeforeItHasSeenCalls) {
  EXPECT_EQ(ServiceTimeTail().variation(), 0.5);
  EXPECT_EQ(ServiceTimeTail().patience_over_mean(100, 0.01), 2.5);
  EXPECT_EQ(ServiceTimeTail().mean_s(0.02), 0.02);
}

}  // namespace
}  // namespace penstock::autotune
