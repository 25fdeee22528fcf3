// Text as people write it: white space, numbers, sizes and durations. All functions are safe to call from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace penstock {

// What may stand around a word. Fixed here, because std::isspace depends on the locale; '\r' takes
// care of files written on Windows.
inline constexpr std::string_view white_space = " \t\r\n\v\f";

// `text` without the white space around it; a view into it.
std::string_view trimmed(std::string_view text) noexcept;

// A name for error texts, in single quotes. Control characters are shown as \x1b: a NUL would end the text there, an
// escape would reach the user's terminal. Of more than 1,000 bytes the middle is left out.
std::string in_quotes(std::string_view name);

// Whether it is UTF-8 as RFC 3629 has it: nothing overlong, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

// The whole of `text` as a decimal number, without blanks or a plus sign; nullopt if it is anything
// else or too large.
std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;
std::optional<std::uint64_t> parse_unsigned(std::string_view text) noexcept;

// "0.3", "1e+300": as few digits as tell it from all other numbers.
std::string shortest_text(double value);

// "512 B", "1.5 KiB", "96 MiB", "2.25 GiB": at most three digits, powers of 1024.
std::string format_bytes(std::uint64_t bytes);

// "4096", "64M", "64MiB", "1.5G" (K M G T, powers of 1024) or "64MB" (powers of 1000); blanks
// before the unit are allowed. Error(invalid_argument) that quotes the text for anything else,
// negative and too large numbers included.
std::uint64_t parse_bytes(std::string_view text);

// "850 ns", "12.5 us", "10 ms", "3.2 s": at most three digits up to 999 s.
std::string format_duration(std::chrono::nanoseconds duration);

// "10ms", "1.5 s", "2h" (ns us ms s min h); a number without a unit is an error, except 0. Error as for parse_bytes.
std::chrono::nanoseconds parse_duration(std::string_view text);

}  // namespace penstock

#pragma GCC visibility pop
