// Numbers that are mostly small, in few bits: of each the upper part in unary, ones and a zero behind them, and the
// lower `bits` as they are (R. F. Rice, "Some Practical Universal Noiseless Coding Techniques", JPL Publication 79-22,
// 1979). Of ages in a shuffle's buffer of n that is some log2(n) + 2 bits.
//
//   append_rice_coded(bytes, ages);
//   const auto again = take_rice_coded(bytes_left, ages.size());
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

// Numbers from 0 to 2^62. A byte says how many bits are written as they are, and the last byte is filled with zeros.
void append_rice_coded(std::string& bytes, std::span<const std::int64_t> numbers);

// Takes so many from the front. nullopt: there are fewer, or one is larger than 2^62.
std::optional<std::vector<std::int64_t>> take_rice_coded(std::string_view& bytes, std::size_t count);

}  // namespace penstock
