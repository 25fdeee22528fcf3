#include "lib/base/text.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using namespace std::chrono_literals;

TEST(Trimmed, LeavesOutWhiteSpaceAroundTheText) {
  EXPECT_EQ(trimmed("two words"), "two words");
  EXPECT_EQ(trimmed("\t two words \v\f\r\n"), "two words");
  EXPECT_EQ(trimmed(" \r\n"), "");
  EXPECT_EQ(trimmed(""), "");
}

// The bounds of RFC 3629, section 4.
TEST(IsUtf8, KnowsWhatIsNone) {
  for (const char* text : {"", "decode",
                           "d\xc3\xa9"
                           "coder",
                           "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
                           "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(text)) << text;
  for (const char* text :
       {"\x80", "\xbf", "\xff", "\xfe", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x9f\xbf", "\xed\xa0\x80",
        "\xe2\x82", "\xe2\x82(", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf0\x9f\x98", "caf\xe9"})
    EXPECT_FALSE(is_utf8(text)) << text;
  EXPECT_TRUE(is_utf8(std::string_view("\0", 1)));
}

TEST(ParseInteger, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1x", "0x10", "1.5", "9223372036854775808"})
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  EXPECT_EQ(parse_unsigned("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_unsigned("-1"), std::nullopt);
}

TEST(ShortestText, TellsANumberFromAllOthers) {
  EXPECT_EQ(shortest_text(0.3), "0.3");
  EXPECT_EQ(shortest_text(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(shortest_text(1e300), "1e+300");
}

TEST(FormatBytes, HasThreeDigitsAndABinaryUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "0.98 KiB");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(96 << 20), "96 MiB");
  EXPECT_EQ(format_bytes((std::uint64_t{9} << 30) / 4), "2.25 GiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<std::uint64_t>::max()), "16 EiB");
}

TEST(ParseBytes, KnowsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("4096"), 4096u);
  EXPECT_EQ(parse_bytes("4096 B"), 4096u);
  EXPECT_EQ(parse_bytes("64M"), 64u << 20);
  EXPECT_EQ(parse_bytes("64MiB"), 64u << 20);
  EXPECT_EQ(parse_bytes("64 MB"), 64'000'000u);
  EXPECT_EQ(parse_bytes("1.5G"), 3u << 29);
  EXPECT_EQ(parse_bytes("2K"), 2048u);
  EXPECT_EQ(parse_bytes("1T"), std::uint64_t{1} << 40);
  EXPECT_EQ(parse_bytes("9007199254740993"), 9007199254740993u);
}

TEST(ParseBytes, RefusesAnythingElse) {
  for (const char* text :
       {"", "M", "-1", "-1M", "64m", "64 Mib", "64MM", "1e3", "nan", "inf", "0x10", "9999999999T", "1 2", " 1"})
    EXPECT_ERROR(parse_bytes(text), ErrorCode::invalid_argument, std::string("'") + text + "'");
}

TEST(ParseBytes, ReadsWhatFormatBytesWrites) {
  for (const std::uint64_t bytes : {0u, 512u, 1u << 20, 96u << 20, 3u << 29})
    EXPECT_EQ(parse_bytes(format_bytes(bytes)), bytes);
}

TEST(FormatDuration, HasThreeDigits) {
  EXPECT_EQ(format_duration(0ns), "0 ns");
  EXPECT_EQ(format_duration(12'540ns), "12.5 us");
  EXPECT_EQ(format_duration(10ms), "10 ms");
  EXPECT_EQ(format_duration(3210ms), "3.21 s");
  EXPECT_EQ(format_duration(2h), "7200 s");
  EXPECT_EQ(format_duration(-5us), "-5 us");
}

TEST(ParseDuration, KnowsUnitsFromNanosecondsToHours) {
  EXPECT_EQ(parse_duration("0"), 0ns);
  EXPECT_EQ(parse_duration("15ns"), 15ns);
  EXPECT_EQ(parse_duration("10ms"), 10ms);
  EXPECT_EQ(parse_duration("1.5 s"), 1500ms);
  EXPECT_EQ(parse_duration("0.25us"), 250ns);
  EXPECT_EQ(parse_duration("3min"), 3min);
  EXPECT_EQ(parse_duration("2h"), 2h);
}

TEST(ParseDuration, RefusesAnythingElse) {
  for (const char* text : {"", "10", "ms", "-1s", "1m", "1 days", "999999999999h", "1s 2ms"})
    EXPECT_ERROR(parse_duration(text), ErrorCode::invalid_argument, std::string("'") + text + "'");
}

}  // namespace
}  // namespace penstock
