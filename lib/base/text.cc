#include "lib/base/text.h"

#include <penstock/error.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

namespace penstock {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array<Unit, 14> size_units{{{"", 1},
                                           {"B", 1},
                                           {"K", 0x1p10},
                                           {"M", 0x1p20},
                                           {"G", 0x1p30},
                                           {"T", 0x1p40},
                                           {"KiB", 0x1p10},
                                           {"MiB", 0x1p20},
                                           {"GiB", 0x1p30},
                                           {"TiB", 0x1p40},
                                           {"KB", 1e3},
                                           {"MB", 1e6},
                                           {"GB", 1e9},
                                           {"TB", 1e12}}};
constexpr std::array<Unit, 6> time_units{
    {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}}};

template <class Number> std::optional<Number> parse_whole(std::string_view text) noexcept {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

[[noreturn]] void fail(std::string_view text, std::string_view wanted) {
  throw Error(ErrorCode::invalid_argument, "'" + std::string(text) + "' is not " + std::string(wanted));
}

// number * factor of the unit behind it, where that is a whole number below 2^63.
std::optional<std::uint64_t> parse_quantity(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto format = std::chars_format::fixed;
  const auto [stopped, error] = std::from_chars(text.data(), end, number, format);
  if (error != std::errc()) return std::nullopt;
  std::string_view name(stopped, static_cast<std::size_t>(end - stopped));
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  const auto unit = std::ranges::find(units, name, &Unit::name);
  if (unit == units.end()) return std::nullopt;
  const double value = std::round(number * unit->factor);
  if (!(value >= 0 && value < 0x1p63)) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

namespace {

struct ByteRange {
  unsigned least = 0x80, most = 0xbf;
  bool has(unsigned byte) const { return byte >= least && byte <= most; }
};

// Of the second byte of a character: RFC 3629 excludes what is overlong, a surrogate or too large.
ByteRange second_bytes(unsigned first) {
  switch (first) {
    case 0xe0: return {.least = 0xa0};
    case 0xed: return {.most = 0x9f};
    case 0xf0: return {.least = 0x90};
    case 0xf4: return {.most = 0x8f};
    default: return {};
  }
}

}  // namespace

// Of a character that begins with this byte; 0: none does.
std::size_t length_by(unsigned first) {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

// Bytes of the character that begins here; 0: none does.
std::size_t length_of_character(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = at(0);
  const std::size_t length = length_by(first);
  if (length < 2) return length;
  if (!second_bytes(first).has(at(1))) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!ByteRange().has(at(i))) return 0;
  }
  return length;
}

// Three significant digits, without zeros at the end of the fraction.
std::string three_digits(double value) {
  std::array<char, 32> buffer;
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals);
  std::string text(buffer.data(), error == std::errc() ? end : buffer.data());
  if (decimals == 0) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t begin = text.find_first_not_of(white_space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(white_space) - begin + 1);
}

std::string in_quotes(std::string_view name) {
  constexpr std::size_t longest = 1000, kept = 300;
  if (name.size() > longest)
    return in_quotes(name.substr(0, kept)) + "..." + in_quotes(name.substr(name.size() - kept));
  static constexpr char digits[] = "0123456789abcdef";
  std::string text = "'";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f)
      text += c;
    else
      text += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
  }
  return text + "'";
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = length_of_character(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept { return parse_whole<std::int64_t>(text); }

std::optional<std::uint64_t> parse_unsigned(std::string_view text) noexcept { return parse_whole<std::uint64_t>(text); }

std::string shortest_text(double value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string format_bytes(std::uint64_t bytes) {
  static constexpr std::string_view units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < std::size(units); ++unit) value /= 1024;
  return three_digits(value) + std::string(units[unit]);
}

std::uint64_t parse_bytes(std::string_view text) {
  // Not through a double, which would round numbers above 2^53.
  if (const auto whole = parse_unsigned(text)) return *whole;
  const auto bytes = parse_quantity(text, size_units);
  if (!bytes) fail(text, "a size such as 64M, 1.5GiB or 4096");
  return *bytes;
}

std::string format_duration(std::chrono::nanoseconds duration) {
  static constexpr std::string_view units[] = {" ns", " us", " ms", " s"};
  auto value = static_cast<double>(duration.count());
  const bool negative = value < 0;
  value = std::abs(value);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < std::size(units); ++unit) value /= 1000;
  return (negative ? "-" : "") + three_digits(value) + std::string(units[unit]);
}

std::chrono::nanoseconds parse_duration(std::string_view text) {
  if (text == "0") return {};
  const auto duration = parse_quantity(text, time_units);
  if (!duration) fail(text, "a duration such as 10ms, 1.5s or 2h");
  return std::chrono::nanoseconds(static_cast<std::int64_t>(*duration));
}

}  // namespace penstock
