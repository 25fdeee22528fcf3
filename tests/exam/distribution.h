// Distribution: of service times (ns), sizes and counts.
#pragma once

#include <cstdint>

#include "tests/exam/random.h"

namespace penstock::exam {

struct Distribution {
  enum class Kind : std::uint8_t { constant, lognormal, pareto, two_points, geometric };

  static Distribution constant(double value) { return {.mean = value}; }
  static Distribution lognormal(double mean, double cv);
  static Distribution pareto(double mean, double alpha, double cap);  // capped, and its mean is `mean` all the same
  static Distribution two_points(double small, double large, double share);  // `share` of them are large
  static Distribution geometric(double mean);                                // 1, 2, 3 ...

  double draw(Random& random) const;
  // Of `count` independent ones; beyond 8 by the normal law.
  double draw_sum(std::int64_t count, Random& random) const;
  // All values times `factor`.
  Distribution times(double factor) const;
  bool is_zero() const noexcept { return mean <= 0; }

  Kind kind = Kind::constant;
  double mean = 0;
  double cv = 0;  // standard deviation / mean
  double a = 0, b = 0,
         c = 0;  // the kind's own: lognormal mu, sigma; pareto smallest, alpha, cap; two points small, large, share
};

}  // namespace penstock::exam
