// ServiceTimeTail: how much the calls of a stage differ, from the counts of a snapshot, older ones fading.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <penstock/service_times.h>
#include <penstock/snapshot.h>

namespace penstock::autotune {

class ServiceTimeTail {
 public:
  void add(const ServiceTimes& before, const ServiceTimes& now) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += static_cast<double>(now[i] - before[i]);
    if (total() > kRemembered) fade(0.5);
  }
  void fade(double kept) {
    for (double& count : counts_) count *= kept;
  }

  double total() const {
    double sum = 0;
    for (const double count : counts_) sum += count;
    return sum;
  }

  // Standard deviation over mean. 0.5 until there are some calls to tell it from.
  double variation() const {
    double sum = 0, sum_of_squares = 0;
    const double all = total();
    if (all < 8) return 0.5;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const double middle = middle_of(i);
      sum += counts_[i] * middle;
      sum_of_squares += counts_[i] * middle * middle;
    }
    const double mean = sum / all;
    return std::sqrt(std::max(0.0, sum_of_squares / all / (mean * mean) - 1));
  }

  // The time t, over the mean, after which calls that begin at `rate` a second and must leave in order have let the others wait no more
  // than `share` of the time: rate x E[max(0, T - t)] = share. Four until there are some calls.
  double patience_over_mean(double rate, double share) const {
    const double all = total();
    double mean = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) mean += counts_[i] * middle_of(i);
    mean /= std::max(all, 1.0);
    if (all < 100 || mean <= 0) return 4;
    const double allowed = share / rate * 1e9 * all;  // ns, summed over all calls
    double longer = 0, excess = 0;                    // calls of bucket i + 1 and above, and what they take beyond its beginning
    for (std::size_t i = counts_.size() - 1; i > 0; --i) {
      const double begin = begin_of(i), end = begin_of(i + 1);
      const double more = longer * (end - begin) + counts_[i] * (middle_of(i) - begin);
      if (excess + more > allowed) return std::max(1.0, (end - (end - begin) * (allowed - excess) / more) / mean);
      longer += counts_[i];
      excess += more;
    }
    return 1;
  }

 private:
  static constexpr double kRemembered = 100'000;

  static constexpr std::size_t kBuckets = ServiceTimes{}.size();

  // Asked for some hundred times in each tick: from a table.
  static double begin_of(std::size_t bucket) {
    static const auto table = [] {
      std::array<double, kBuckets + 1> begins{};
      for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = service_time_from(i);
      return begins;
    }();
    return table[bucket];
  }
  static double middle_of(std::size_t bucket) { return begin_of(bucket) * 1.19; }  // a quarter of an octave up

  std::array<double, kBuckets> counts_{};
};

}  // namespace penstock::autotune
