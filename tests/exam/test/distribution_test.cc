#include "tests/exam/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace penstock::exam {
namespace {

struct Moments {
  double mean, cv, most;
};

Moments moments(const Distribution& of, int count = 400'000) {
  Random random(3);
  double sum = 0;
  double squares = 0;
  double most = 0;
  for (int i = 0; i < count; ++i) {
    const double value = of.draw(random);
    sum += value;
    squares += value * value;
    most = std::max(most, value);
  }
  const double mean = sum / count;
  return {mean, std::sqrt(squares / count - mean * mean) / mean, most};
}

TEST(Distribution, LognormalHasTheMeanAndTheSpreadAskedFor) {
  const auto [mean, cv, most] = moments(Distribution::lognormal(10, 0.5));
  EXPECT_NEAR(mean, 10, 0.05);
  EXPECT_NEAR(cv, 0.5, 0.01);
}

TEST(Distribution, ParetoIsCappedAndKeepsItsMean) {
  const Distribution pareto = Distribution::pareto(5, 1.5, 250);
  const auto [mean, cv, most] = moments(pareto, 2'000'000);
  EXPECT_NEAR(mean, 5, 0.1);
  EXPECT_NEAR(cv, pareto.cv, 0.15);
  EXPECT_EQ(most, 250);
}

TEST(Distribution, TwoPointsComeInTheirShares) {
  const Distribution points = Distribution::two_points(1, 100, 0.005);
  const auto [mean, cv, most] = moments(points);
  EXPECT_NEAR(mean, 1 + 99 * 0.005, 0.05);
  EXPECT_NEAR(cv, points.cv, 0.1);
  EXPECT_EQ(most, 100);
}

TEST(Distribution, GeometricCountsFromOne) {
  const auto [mean, cv, most] = moments(Distribution::geometric(16));
  EXPECT_NEAR(mean, 16, 0.2);
  EXPECT_NEAR(cv, std::sqrt(15.0 / 16), 0.02);
}

TEST(Distribution, SumOfManyHasTheMomentsOfTheSum) {
  Random random(3);
  const Distribution each = Distribution::lognormal(10, 0.5);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double value = each.draw_sum(100, random);
    sum += value / 100'000;
    squares += value * value / 100'000;
  }
  EXPECT_NEAR(sum, 1'000, 1);
  EXPECT_NEAR(std::sqrt(squares - sum * sum), 50, 1);
}

TEST(Distribution, ScalesAllOfItsValues) {
  for (const Distribution& each : {Distribution::constant(5), Distribution::lognormal(5, 0.5),
                                   Distribution::pareto(5, 1.5, 250), Distribution::two_points(2, 20, 0.1)}) {
    const auto plain = moments(each);
    const auto scaled = moments(each.times(3.7));
    EXPECT_NEAR(scaled.mean, 3.7 * plain.mean, 1e-6 * scaled.mean);
    EXPECT_NEAR(scaled.most, 3.7 * plain.most, 1e-6 * scaled.most);
    EXPECT_NEAR(each.times(3.7).mean, 3.7 * each.mean, 1e-9);
  }
}

}  // namespace
}  // namespace penstock::exam
