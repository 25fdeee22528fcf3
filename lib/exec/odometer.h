// Odometer: in which pass a merge, or what comes to one of its inputs, is (pass_control.h). Those of a merge and of its
// inputs have the same digits: the repeats further down, the nearest one first.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace penstock::exec {

class Odometer {
 public:
  explicit Odometer(std::size_t digits) : digits_(digits, 0) {}

  explicit Odometer(std::vector<std::int64_t> digits) : digits_(std::move(digits)) {}

  const std::vector<std::int64_t>& digits() const noexcept { return digits_; }
  bool is_in_round_of(const Odometer& other) const noexcept { return round_ == other.round_; }

  // A mark has come with which `level` of these repeats ended. `round`: of the pass behind it.
  void turn(std::size_t level, std::uint64_t round) {
    std::fill_n(digits_.begin(), level, 0);
    if (level < digits_.size()) ++digits_[level];
    round_ = round;
  }

  // Which digit is the highest in which they differ; of odometers in different epochs their number.
  std::size_t highest_difference(const Odometer& other) const noexcept {
    std::size_t digit = digits_.size();
    if (round_ != other.round_) return digit;
    while (digit > 0 && digits_[digit - 1] == other.digits_[digit - 1]) --digit;
    return digit > 0 ? digit - 1 : 0;
  }

  friend std::strong_ordering operator<=>(const Odometer& a, const Odometer& b) noexcept {
    if (a.round_ != b.round_) return a.round_ <=> b.round_;
    return std::lexicographical_compare_three_way(a.digits_.rbegin(), a.digits_.rend(), b.digits_.rbegin(),
                                                  b.digits_.rend());
  }
  friend bool operator==(const Odometer& a, const Odometer& b) noexcept { return (a <=> b) == 0; }

 private:
  std::vector<std::int64_t> digits_;
  std::uint64_t round_ = 0;
};

}  // namespace penstock::exec
