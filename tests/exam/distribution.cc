#include "tests/exam/distribution.h"

#include <algorithm>
#include <cmath>

namespace penstock::exam {
namespace {

// Mean of min(X, cap) for a Pareto X that begins at `smallest`.
double capped_mean(double smallest, double alpha, double cap) {
  return (alpha * smallest - std::pow(smallest, alpha) * std::pow(cap, 1 - alpha)) / (alpha - 1);
}

double capped_square(double smallest, double alpha, double cap) {
  const double below =
      alpha * std::pow(smallest, alpha) / (2 - alpha) * (std::pow(cap, 2 - alpha) - std::pow(smallest, 2 - alpha));
  return below + std::pow(smallest / cap, alpha) * cap * cap;
}

}  // namespace

Distribution Distribution::lognormal(double mean, double cv) {
  if (cv <= 0 || mean <= 0) return constant(mean);
  const double variance = std::log(1 + cv * cv);
  return {
      .kind = Kind::lognormal, .mean = mean, .cv = cv, .a = std::log(mean) - variance / 2, .b = std::sqrt(variance)};
}

Distribution Distribution::pareto(double mean, double alpha, double cap) {
  double low = 0;
  double high = mean;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (capped_mean(middle, alpha, cap) < mean ? low : high) = middle;
  }
  const double cv = std::sqrt(std::max(capped_square(low, alpha, cap) / (mean * mean) - 1, 0.0));
  return {.kind = Kind::pareto, .mean = mean, .cv = cv, .a = low, .b = alpha, .c = cap};
}

Distribution Distribution::two_points(double small, double large, double share) {
  const double mean = small + share * (large - small);
  const double cv = (large - small) * std::sqrt(share * (1 - share)) / mean;
  return {.kind = Kind::two_points, .mean = mean, .cv = cv, .a = small, .b = large, .c = share};
}

Distribution Distribution::geometric(double mean) {
  return {.kind = Kind::geometric,
          .mean = mean,
          .cv = std::sqrt((mean - 1) / mean),
          .a = std::log1p(-1 / std::max(mean, 1.000001))};
}

double Distribution::draw(Random& random) const {
  switch (kind) {
    case Kind::constant: return mean;
    case Kind::lognormal: return std::exp(a + b * random.normal());
    case Kind::pareto: return std::min(a * std::pow(random.uniform(), -1 / b), c);
    case Kind::two_points: return random.uniform() < c ? b : a;
    case Kind::geometric: return 1 + std::floor(std::log(random.uniform()) / a);
  }
  return mean;
}

double Distribution::draw_sum(std::int64_t count, Random& random) const {
  if (kind == Kind::constant || count == 0) return mean * static_cast<double>(count);
  if (count > 8) {
    const double n = static_cast<double>(count);
    return std::max(mean * (n + cv * std::sqrt(n) * random.normal()), 0.1 * mean * n);
  }
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += draw(random);
  return sum;
}

Distribution Distribution::times(double factor) const {
  Distribution result = *this;
  result.mean *= factor;
  if (kind == Kind::lognormal) result.a += std::log(factor);
  if (kind == Kind::pareto) result.a *= factor, result.c *= factor;
  if (kind == Kind::two_points) result.a *= factor, result.b *= factor;
  return result;
}

}  // namespace penstock::exam
