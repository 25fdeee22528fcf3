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
    add_up();
    if (total_ > kRemembered) fade(0.5);
  }
  void fade(double kept) {
    for (double& count : counts_) count *= kept;
    add_up();
  }

  double total() const noexcept { return total_; }

  // In s, with what calls wait for a core. `of_late` has none of that, but is known sooner where calls become slower.
  double mean_s(double of_late) const {
    const double mean = 1e-9 * sum_ / std::max(total_, 1.0);
    return known() && of_late < kSlower * mean ? mean : of_late;
  }

  // Standard deviation over mean. 0.5 until there are some calls to tell it from.
  double variation() const {
    const double all = total();
    if (all < 8) return 0.5;
    const double mean = sum_ / all;
    return std::sqrt(std::max(0.0, sum_of_squares_ / all / (mean * mean) - 1));
  }

  // The time, in s, that a call takes at least with this chance; what is rarer than one in all calls seen is told by an
  // exponential tail. Eight means until there are some calls.
  double reached_with(double chance) const {
    const double mean = sum_ / std::max(total_, 1.0);
    if (!known()) return 8e-9 * mean;
    const double seen = std::max(chance, 1 / total_);
    double calls = 0;
    std::size_t i = longest_;
    while (i > 0 && (calls += counts_[i]) < seen * total_) --i;
    return 1e-9 * begin_of(i + 1) * beyond_seen(chance, seen);
  }

  // The time t, over the mean, after which calls that begin at `rate` a second and must leave in order have let the
  // others wait no more than `share` of the time: rate x E[max(0, T - t)] = share. The slowest of all is left out: it
  // may have been chance. Two and a half until there are some calls.
  double patience_over_mean(double rate, double share) const {
    return known() ? exceeded_with(share / rate * 1e9 * total_ / sum_, 1) : 2.5;
  }

  // The age, over the mean, that a call which is under way at some moment has passed with this chance: E[max(0, T - t)]
  // = chance x E[T] (renewal theory). Eight until there are some calls.
  double age_over_mean(double chance) const { return known() ? exceeded_with(chance, 0) : 8; }

 private:
  static constexpr double kRemembered = 100'000;
  static constexpr double kSlower = 1.5;  // no chance

  static constexpr std::size_t kBuckets = ServiceTimes{}.size();

  bool known() const noexcept { return total_ >= 100 && sum_ > 0; }

  // The time t, over the mean, at which E[max(0, T - t)] = chance x E[T]. What is rarer than one in all calls seen is
  // told by an exponential tail.
  double exceeded_with(double chance, double left_out) const {
    const double seen = std::max(chance, 1 / total_);
    return exceeded_by(seen * sum_, left_out) * beyond_seen(chance, seen);
  }

  // An exponential tail: how many times longer that is.
  static double beyond_seen(double chance, double seen) {
    return chance < seen ? std::log(chance) / std::log(seen) : 1;
  }

  // The time, over the mean, beyond which all calls together take no more than `allowed` ns, but for so many of the
  // slowest.
  double exceeded_by(double allowed, double left_out) const {
    const double mean = sum_ / total_;
    double longer = 0, excess = 0;  // calls of bucket i + 1 and above, and what they take beyond its beginning
    for (std::size_t i = longest_; i > 0; --i) {
      const double end = begin_of(i + 1), width = end - begin_of(i);
      const double skipped = std::min(left_out, counts_[i]), calls = counts_[i] - skipped;
      left_out -= skipped;
      const double more = width * (longer + calls / 2);
      if (excess + more > allowed)
        return std::max(1.0, (end - below_end(longer, calls / width, allowed - excess)) / mean);
      longer += calls;
      excess += more;
    }
    return 1;
  }

  // How far below the end of a bucket, in which calls are spread evenly, so many ns of all calls lie: longer y +
  // density y^2 / 2 = allowed.
  static double below_end(double longer, double density, double allowed) {
    if (!(density > 0)) return allowed / longer;
    return (std::sqrt(longer * longer + 2 * density * allowed) - longer) / density;
  }

  // From a table: a power costs more than all the rest.
  static double begin_of(std::size_t bucket) {
    static const auto table = [] {
      std::array<double, kBuckets + 1> begins{};
      for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = service_time_from(i);
      return begins;
    }();
    return table[bucket];
  }
  // Asked for in each tick, but changed by samples only.
  void add_up() {
    total_ = sum_ = sum_of_squares_ = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const double middle = middle_of(i);
      total_ += counts_[i];
      sum_ += counts_[i] * middle;
      sum_of_squares_ += counts_[i] * middle * middle;
      if (counts_[i] > 0) longest_ = i;
    }
  }

  static double middle_of(std::size_t bucket) { return begin_of(bucket) * 1.19; }  // a quarter of an octave up

  std::array<double, kBuckets> counts_{};
  double total_ = 0, sum_ = 0, sum_of_squares_ = 0;  // of counts; of times; of their squares
  std::size_t longest_ = 0;                          // the last count that is not 0
};

}  // namespace penstock::autotune
