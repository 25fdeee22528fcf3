// Tracked: an average that notices when what it averages has changed.
#pragma once

#include <algorithm>
#include <cmath>

namespace penstock::autotune {

// A smoothed positive value with a two-sided CUSUM on its logarithm (Page, "Continuous inspection schemes", Biometrika
// 1954): deviations in units of their own noise are added up beyond a slack of half a unit, and eight of them are a
// change. Noise alone takes many thousand samples to get there; a shift by three units is seen in about four.
class Tracked {
 public:
  bool known() const noexcept { return known_; }
  double value() const noexcept { return value_; }

  // Takes the next sample, whose relative error is about `noise`. True: the value has changed, and is now this sample.
  // `weight`: of the sample in the average.
  bool add(double sample, double noise, double weight = 0.2) {
    if (!known_ || sample <= 0 || value_ <= 0) {
      set(sample);
      return false;
    }
    const double deviation = std::log(sample / value_) / std::max(noise, kLeastNoise);
    above_ = std::max(0.0, above_ + deviation - kSlack);
    below_ = std::max(0.0, below_ - deviation - kSlack);
    if (above_ > kAlarm || below_ > kAlarm) {
      set(sample);
      return true;
    }
    value_ += weight * (sample - value_);
    return false;
  }

  void set(double value) noexcept {
    value_ = value;
    known_ = true;
    above_ = below_ = 0;
  }
  void forget() noexcept { *this = Tracked(); }

 private:
  static constexpr double kSlack = 0.5;
  static constexpr double kAlarm = 8;
  static constexpr double kLeastNoise = 0.08;  // models are not exact: less is not a change

  double value_ = 0;
  double above_ = 0, below_ = 0;
  bool known_ = false;
};

}  // namespace penstock::autotune
