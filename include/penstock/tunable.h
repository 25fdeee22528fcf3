// Tunable: a number that the user fixes or leaves to the controller.
//
//   auto fixed = files.map(decode, 8);                               // always 8 calls at once; never moved
//   auto automatic = files.map(decode, ps::AUTOTUNE);                // the controller chooses and moves it
//   auto bounded = files.map(decode, ps::Tunable::between(2, 16));   // the controller chooses within these bounds
//
// Only tuning takes a Tunable. What changes values or order (seed, drop_remainder) cannot be automatic, by type.
#pragma once

#include <cstdint>
#include <limits>

#pragma GCC visibility push(default)

namespace penstock {

class Tunable {
 public:
  constexpr Tunable(std::int64_t fixed) noexcept
      : low_(fixed), high_(fixed), automatic_(false) {}  // NOLINT: 8 reads as 8
  static constexpr Tunable between(std::int64_t low, std::int64_t high) noexcept { return {low, high}; }
  static constexpr Tunable automatic() noexcept { return {1, std::numeric_limits<std::int64_t>::max()}; }

  constexpr bool is_automatic() const noexcept { return automatic_; }
  constexpr std::int64_t low() const noexcept { return low_; }
  constexpr std::int64_t high() const noexcept { return high_; }
  friend constexpr bool operator==(const Tunable&, const Tunable&) noexcept = default;

 private:
  constexpr Tunable(std::int64_t low, std::int64_t high) noexcept : low_(low), high_(high), automatic_(true) {}

  std::int64_t low_;
  std::int64_t high_;
  bool automatic_;
};

inline constexpr Tunable AUTOTUNE = Tunable::automatic();

}  // namespace penstock

#pragma GCC visibility pop
