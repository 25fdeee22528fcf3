#include "ops/image/huffman.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace penstock::image {
namespace {

constexpr unsigned kZeroRun = 0xf0;  // ZRL: 16 zeros, no value

std::uint8_t byte_of(unsigned value) { return static_cast<std::uint8_t>(value); }

// Codes of a length follow each other, longer ones follow them (C.2). So in a table by the next `bits` bits each code
// has a run of entries that begins where the one before it ends: calls of(symbol, length, begin, end). Returns where
// longer codes begin; is_code() has seen that there are no more entries than the table has.
template <class Of> std::size_t for_each_run(const HuffmanCode& code, unsigned bits, const Of& of) {
  std::size_t at = 0, place = 0;
  for (unsigned length = 1; length <= bits; ++length) {
    const std::size_t run = std::size_t{1} << (bits - length);
    for (unsigned i = 0; i < code.counts[length]; ++i, at += run)
      of(unsigned{code.symbols[place++]}, length, at, at + run);
  }
  return at;
}

void fill(LongCodes& codes, const HuffmanCode& code) {
  std::int32_t next = 0, place = 0;  // the code that follows, and the place of its symbol
  codes.end[0] = 0;
  codes.offset[0] = 0;
  for (unsigned length = 1; length <= 16; ++length) {
    codes.offset[length] = place - next;
    next += code.counts[length];
    place += code.counts[length];
    codes.end[length] = static_cast<std::uint32_t>(next) << (16U - length);
    next *= 2;
  }
  codes.end[17] = 1U << 16U;
  std::memcpy(codes.symbols, code.symbols.data(), sizeof codes.symbols);
}

// Entries as numbers: a sum of such numbers is the sum of their fields, as long as no field leaves its byte.
std::uint64_t number_of(const AcEntry& entry) { return std::bit_cast<std::uint64_t>(entry); }
AcEntry entry_of(std::uint64_t number) { return std::bit_cast<AcEntry>(number); }

AcEntry long_entry(unsigned least_bits) {
  AcEntry entry{};
  entry.last_code = byte_of(least_bits);
  return entry;
}

// Without a second symbol.
AcEntry single_entry(unsigned symbol, unsigned code_bits) {
  const unsigned bits = symbol & 15U;
  return {.length = byte_of(code_bits + bits),
          .first_length = byte_of(code_bits + bits),
          .first_value = 0,
          .last_code = byte_of(code_bits),
          .last_shift = byte_of(64 - bits),
          .first_step = byte_of(ac_step(symbol)),
          .all_steps = byte_of(ac_step(symbol))};
}

// The value of these bits (EXTEND, F.2.2.1).
std::int16_t value_of(unsigned from, unsigned bits) {
  const bool is_negative = from < 1U << bits >> 1U;
  return static_cast<std::int16_t>(static_cast<int>(from) - (is_negative ? (1 << bits) - 1 : 0));
}

// A first symbol that waits for what a second one adds.
AcEntry first_entry(unsigned symbol, unsigned code_bits, unsigned value) {
  AcEntry entry = single_entry(symbol, code_bits);
  entry.first_value = value_of(value, symbol & 15U);
  entry.last_code = entry.length;
  entry.last_shift = 0;
  return entry;
}

// What a second symbol adds to the entry of a first one of `length` bits; 0 where both are too long for a look-up.
std::uint64_t added_by(unsigned symbol, unsigned code_bits, unsigned length) {
  const unsigned bits = symbol & 15U;
  if (symbol == kZeroRun || length + code_bits + bits > kAcLookupBits) return 0;
  AcEntry added{};
  added.length = byte_of(code_bits + bits);
  added.last_code = byte_of(code_bits);
  added.last_shift = byte_of(64 - bits);
  added.all_steps = byte_of(ac_step(symbol));
  return number_of(added);
}

// What second symbols add behind a first one of some number of bits, by the bits that are left of the index.
struct SecondSymbols {
  std::uint64_t added[1U << kAcIndexBits];  // behind n bits: those from 1 << (kAcIndexBits - n)
  const std::uint64_t* behind(unsigned length) const { return added + (std::size_t{1} << (kAcIndexBits - length)); }
};

void fill(SecondSymbols& seconds, const HuffmanCode& code) {
  for (unsigned length = 1; length < kAcIndexBits; ++length) {
    const unsigned left = kAcIndexBits - length;
    std::uint64_t* const added = seconds.added + (std::size_t{1} << left);
    const std::size_t end =
        for_each_run(code, left, [&](unsigned symbol, unsigned bits, std::size_t begin, std::size_t run_end) {
          std::fill(added + begin, added + run_end, added_by(symbol, bits, length));
        });
    std::fill(added + end, added + (std::size_t{1} << left), std::uint64_t{0});
  }
}

// The index bits behind a first symbol come again for each of its values.
void fill_run(AcEntry* begin, AcEntry* end, unsigned symbol, unsigned code_bits, const SecondSymbols& seconds) {
  const unsigned length = code_bits + (symbol & 15U);
  if (symbol == kZeroRun) return std::fill(begin, end, long_entry(code_bits));
  const AcEntry single = single_entry(symbol, code_bits);
  if (ac_step(symbol) == kEndOfBlock || length >= kAcIndexBits) return std::fill(begin, end, single);
  const std::uint64_t* const added = seconds.behind(length);
  const std::size_t period = std::size_t{1} << (kAcIndexBits - length);
  for (unsigned value = 0; begin < end; begin += period, ++value) {
    const std::uint64_t first = number_of(first_entry(symbol, code_bits, value));
    for (std::size_t i = 0; i < period; ++i) begin[i] = entry_of(added[i] == 0 ? number_of(single) : first + added[i]);
  }
}

AcSkip skip_of(unsigned symbol, unsigned code_bits) {
  const unsigned step = ac_step(symbol) == kEndOfBlock ? kSkipEndOfBlock : ac_step(symbol);
  return static_cast<AcSkip>(step << 6U | (code_bits + (symbol & 15U)));
}

// For an index of `left` bits, from those for fewer bits: all are in one array, those for n bits from 1 << n.
void fill_skips(AcSkip* skips, const HuffmanCode& code, unsigned left) {
  AcSkip* const entries = skips + (std::size_t{1} << left);
  const std::size_t end =
      for_each_run(code, left, [&](unsigned symbol, unsigned bits, std::size_t begin, std::size_t run_end) {
        const AcSkip skip = skip_of(symbol, bits);
        const unsigned length = bits + (symbol & 15U);
        if (ac_step(symbol) == kEndOfBlock || length >= left)
          return std::fill(entries + begin, entries + run_end, skip);
        const std::size_t period = std::size_t{1} << (left - length);
        for (; begin < run_end; begin += period)
          for (std::size_t i = 0; i < period; ++i) entries[begin + i] = static_cast<AcSkip>(skip + skips[period + i]);
      });
  std::fill(entries + end, entries + (std::size_t{1} << left), AcSkip{0});
}

}  // namespace

bool is_code(const HuffmanCode& code, bool is_dc) noexcept {
  unsigned next = 0, symbols = 0;
  for (unsigned length = 1; length <= 16; ++length) {
    next += code.counts[length];
    symbols += code.counts[length];
    // Below, not at it: a code of ones only is forbidden (C.2), and libjpeg refuses it.
    if (next >= (1U << length) || symbols > code.symbols.size()) return false;
    next *= 2;
  }
  const auto end = code.symbols.begin() + symbols;
  return symbols > 0 &&
         (!is_dc || std::all_of(code.symbols.begin(), end, [](std::uint8_t symbol) { return symbol < 16; }));
}

void build(DcTable& table, const HuffmanCode& code) noexcept {
  fill(table.long_codes, code);
  const auto fill_entries = [&](unsigned symbol, unsigned bits, std::size_t begin, std::size_t run_end) {
    std::fill(table.entries + begin, table.entries + run_end, (bits + symbol) | bits << 8U | (63U - symbol) << 16U);
  };
  const std::size_t end = for_each_run(code, kDcIndexBits, fill_entries);
  std::fill(table.entries + end, std::end(table.entries), 0U);
}

void build(AcTable& table, const HuffmanCode& code) noexcept {
  SecondSymbols seconds;
  fill(seconds, code);
  fill(table.long_codes, code);
  const auto fill_entries = [&](unsigned symbol, unsigned bits, std::size_t begin, std::size_t run_end) {
    fill_run(table.entries + begin, table.entries + run_end, symbol, bits, seconds);
  };
  const std::size_t end = for_each_run(code, kAcIndexBits, fill_entries);
  std::fill(table.entries + end, std::end(table.entries), long_entry(kAcIndexBits + 1));
  AcSkip skips[2U << kSkipIndexBits];
  for (unsigned left = 1; left <= kSkipIndexBits; ++left) fill_skips(skips, code, left);
  std::transform(skips + std::size(table.skips), std::end(skips), table.skips,
                 [](AcSkip skip) { return skip == 0 ? static_cast<AcSkip>(kSkipNothing << 6U) : skip; });
}

}  // namespace penstock::image
