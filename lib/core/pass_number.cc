#include "lib/core/pass_number.h"

namespace penstock {
namespace {

constexpr std::int64_t kMostRounds = std::int64_t{1} << 24;  // some 0.1 s, for a pass that is not there
constexpr std::int64_t kMostDigit = std::int64_t{1} << 32;

// The next round of the outer digits. False: there is none.
bool next_round(std::vector<std::int64_t>& digits, std::span<const std::int64_t> counts) {
  digits[0] = 0;
  for (std::size_t i = 1; i < digits.size(); ++i) {
    if (++digits[i] < counts[i] || counts[i] < 0) return true;
    digits[i] = 0;
  }
  return false;
}

}  // namespace

std::uint32_t pass_number(std::span<const std::int64_t> digits) noexcept {
  std::uint32_t number = 0;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) number = pass_within(number, *digit);
  return number;
}

// Digit 0 follows from the others. Where it has no bound, each round has one, and the least is right: others are
// anywhere among 2^32.
std::optional<std::vector<std::int64_t>> digits_of_pass(std::uint32_t pass, std::span<const std::int64_t> counts) {
  if (counts.empty()) return pass == 0 ? std::optional(std::vector<std::int64_t>()) : std::nullopt;
  std::optional<std::vector<std::int64_t>> best;
  std::int64_t bound = counts[0] < 0 ? kMostDigit : counts[0];
  std::vector<std::int64_t> digits(counts.size(), 0);
  for (std::int64_t round = 0; round < kMostRounds; ++round) {
    const std::uint32_t digit = pass - pass_number(digits);
    if (digit < bound) {
      bound = digit;
      best = digits;
      best->front() = digit;
      if (counts[0] >= 0 || digit == 0) break;
    }
    if (!next_round(digits, counts)) break;
  }
  return best;
}

}  // namespace penstock
