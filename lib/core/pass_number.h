// How the passes of an epoch are numbered (Stamp::pass): by the repeats behind the source, as digits of an odometer,
// the nearest to the source first.
//
//   const std::int64_t digits[] = {2, 1};            // the third pass of the second round
//   pass_number(digits)
//   digits_of_pass(pass_number(digits), {{3, 2}})    ->  {2, 1}
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace penstock {

// The number of a pass of which the outer digits make `outer`, and digit 0 is `digit`.
constexpr std::uint32_t pass_within(std::uint32_t outer, std::int64_t digit) noexcept {
  return outer * 0x9E3779B1u + static_cast<std::uint32_t>(digit);
}

// Digit 0, which is the number of the pass where there is one repeat; outer digits jump far, so that nested passes do
// not meet.
std::uint32_t pass_number(std::span<const std::int64_t> digits) noexcept;

// `counts`: of the repeats, -1 for ever. nullopt: no such pass is among the first 2^24 rounds of the outer ones. Takes
// as many steps as rounds lie before the pass.
std::optional<std::vector<std::int64_t>> digits_of_pass(std::uint32_t pass, std::span<const std::int64_t> counts);

}  // namespace penstock
