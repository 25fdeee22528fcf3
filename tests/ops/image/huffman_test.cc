// Tables against the codes as annex C writes them, bit for bit.
#include "ops/image/huffman.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "ops/image/entropy_blocks.h"
#include "tests/ops/image/scan_writer.h"

namespace penstock::image {
namespace {

using testing::ac_symbols;
using testing::dc_symbols;
using testing::drawn_code;
using testing::written_code;
using testing::WrittenCode;

HuffmanCode code_of(std::initializer_list<int> counts, std::initializer_list<int> symbols) {
  HuffmanCode code{.is_there = true};
  std::size_t length = 1, place = 0;
  for (const int count : counts) code.counts[length++] = static_cast<std::uint8_t>(count);
  for (const int symbol : symbols) code.symbols[place++] = static_cast<std::uint8_t>(symbol);
  return code;
}

TEST(HuffmanCode, IsNoneWithoutSymbols) { EXPECT_FALSE(is_code(code_of({}, {}), false)); }

TEST(HuffmanCode, HasRoomBehindTheLastCodeAtEachLength) {
  EXPECT_TRUE(is_code(code_of({1}, {0}), true));
  EXPECT_FALSE(is_code(code_of({2}, {0, 1}), true));  // 1 would be ones only
  EXPECT_TRUE(is_code(code_of({1, 1}, {0, 1}), true));
  EXPECT_FALSE(is_code(code_of({1, 2}, {0, 1, 2}), true));
  EXPECT_FALSE(is_code(code_of({3}, {0, 1, 2}), true));
  EXPECT_FALSE(is_code(code_of({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255}, {}), true))
      << "more than 256 symbols";
  EXPECT_TRUE(is_code(code_of({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 255}, {}), true));
}

TEST(HuffmanCode, OfDcDifferencesHasNoSymbolAbove15) {
  EXPECT_TRUE(is_code(code_of({0, 2}, {15, 1}), true));
  EXPECT_FALSE(is_code(code_of({0, 2}, {1, 16}), true));
  EXPECT_TRUE(is_code(code_of({0, 2}, {1, 16}), false));
}

// The symbol that `bits`, 32 of them, begin with: by comparing with each code.
struct Found {
  unsigned symbol = 0, length = 0;
};

Found find(const WrittenCode& code, std::uint32_t bits) {
  for (unsigned symbol = 0; symbol < 256; ++symbol)
    if (code.length[symbol] > 0 && bits >> (32 - code.length[symbol]) == code.code[symbol])
      return {symbol, code.length[symbol]};
  return {};
}

std::vector<HuffmanCode> drawn_codes(const std::vector<std::uint8_t>& symbols) {
  std::minstd_rand random(3);
  std::vector<HuffmanCode> codes;
  for (const unsigned depth : {0U, 20U, 50U, 80U, 95U})
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{7}, symbols.size()}) {
      std::vector<std::uint8_t> some = symbols;
      std::shuffle(some.begin(), some.end(), random);
      some.resize(std::min(count, symbols.size()));
      codes.push_back(drawn_code(some, depth, random));
    }
  return codes;
}

TEST(DcTable, HasEachCode) {
  const auto table = std::make_unique<DcTable>();
  for (const HuffmanCode& code : drawn_codes(dc_symbols(15))) {
    ASSERT_TRUE(is_code(code, true));
    build(*table, code);
    const WrittenCode written = written_code(code);
    for (unsigned i = 0; i < 1U << kDcIndexBits; ++i) {
      const Found found = find(written, i << (32 - kDcIndexBits));
      const bool is_short = found.length > 0 && found.length <= kDcIndexBits;
      const unsigned entry = (found.length + found.symbol) | found.length << 8U | (63 - found.symbol) << 16U;
      ASSERT_EQ(table->entries[i], is_short ? entry : 0) << i;
    }
  }
}

// The value of `bits` bits (table F.1).
int value_of_bits(std::uint32_t from, unsigned bits) {
  const int value = bits == 0 ? 0 : static_cast<int>(from >> (32 - bits));
  return bits == 0 || value >= 1 << (bits - 1) ? value : value - (1 << bits) + 1;
}

// What an entry says about the bits that its look-up saw.
void expect_entry(const AcEntry& entry, const WrittenCode& code, std::uint32_t bits) {
  const Found first = find(code, bits);
  if (first.length == 0 || first.length > kAcIndexBits || first.symbol == 0xf0) {
    EXPECT_EQ(entry.length, 0);
    EXPECT_EQ(entry.last_code, first.symbol == 0xf0 ? std::min(first.length, kAcIndexBits + 1) : kAcIndexBits + 1);
    return;
  }
  const unsigned first_bits = first.symbol % 16, first_step = ac_step(first.symbol), length = first.length + first_bits;
  EXPECT_EQ(entry.first_length, length);
  EXPECT_EQ(entry.first_step, first_step);
  EXPECT_LE(entry.length, kAcLookupBits);
  const Found second = length < kAcIndexBits && first_step < kEndOfBlock ? find(code, bits << length) : Found{};
  const unsigned second_bits = second.symbol % 16, both = length + second.length + second_bits;
  const bool is_seen = second.length > 0 && length + second.length <= kAcIndexBits;
  const bool are_two = is_seen && second.symbol != 0xf0 && both <= kAcLookupBits;
  EXPECT_EQ(entry.length, are_two ? both : length);
  EXPECT_EQ(entry.last_code, are_two ? length + second.length : first.length);
  EXPECT_EQ(entry.last_shift, 64 - (are_two ? second_bits : first_bits));
  EXPECT_EQ(entry.all_steps, first_step + (are_two ? ac_step(second.symbol) : 0));
  if (are_two) {
    EXPECT_EQ(entry.first_value, value_of_bits(bits << first.length, first_bits));
  }
}

// What a look-up of `bits` without values gets past, symbol by symbol.
unsigned expected_skip(const WrittenCode& code, std::uint32_t bits) {
  unsigned length = 0, steps = 0;
  while (length < kSkipIndexBits) {
    const Found found = find(code, bits << length);
    if (found.length == 0 || length + found.length > kSkipIndexBits) break;
    length += found.length + found.symbol % 16;
    const bool is_end = ac_step(found.symbol) == kEndOfBlock;
    steps += is_end ? kSkipEndOfBlock : ac_step(found.symbol);
    if (is_end) break;
  }
  return length == 0 ? kSkipNothing << 6U : steps << 6U | length;
}

TEST(AcTable, SkipsAllSymbolsWhoseCodesAreSeen) {
  const auto table = std::make_unique<AcTable>();
  for (const HuffmanCode& code : drawn_codes(ac_symbols(15))) {
    build(*table, code);
    const WrittenCode written = written_code(code);
    for (unsigned i = 0; i < 1U << kSkipIndexBits; ++i)
      ASSERT_EQ(table->skips[i], expected_skip(written, i << (32 - kSkipIndexBits))) << i;
  }
}

TEST(AcTable, HasOneOrTwoSymbolsOfEachCode) {
  const auto table = std::make_unique<AcTable>();
  for (const HuffmanCode& code : drawn_codes(ac_symbols(15))) {
    ASSERT_TRUE(is_code(code, false));
    build(*table, code);
    const WrittenCode written = written_code(code);
    for (unsigned i = 0; i < 1U << kAcIndexBits; ++i)
      ASSERT_NO_FATAL_FAILURE(expect_entry(table->entries[i], written, i << (32 - kAcIndexBits))) << i;
  }
}

TEST(LongCodes, FindEachCodeFromEachLengthThatItHasAtLeast) {
  const auto table = std::make_unique<AcTable>();
  for (const HuffmanCode& code : drawn_codes(ac_symbols(10))) {
    build(*table, code);
    const WrittenCode written = written_code(code);
    for (std::uint32_t bits = 0; bits < 1U << 16U; bits += 3) {
      const Found found = find(written, bits << 16U);
      const LongSymbol ours = find_long(table->long_codes, std::uint64_t{bits} << 48U, 1);
      ASSERT_EQ(ours.length, found.length == 0 ? 17 : found.length);
      ASSERT_EQ(ours.symbol, found.symbol);
      if (found.length <= kAcIndexBits) continue;
      ASSERT_EQ(find_long(table->long_codes, std::uint64_t{bits} << 48U, kAcIndexBits + 1).symbol, found.symbol);
    }
  }
}

}  // namespace
}  // namespace penstock::image
