#include "ops/image/huffman.h"

#include <algorithm>
#include <cstring>

namespace penstock::image {
namespace {

constexpr unsigned kZeroRun = 0xf0;  // ZRL: 16 zeros, no value

// By the next `kBits` bits: the code that they begin with. `length` 0: a longer one, or none.
template <unsigned kBits>
struct FlatCodes {
  std::uint8_t length[1U << kBits];
  std::uint8_t symbol[1U << kBits];
};

// Codes of a length follow each other, longer ones follow them (C.2), so that the table is filled from its begin. A code of is_code()
// leaves room behind the last one at every length.
template <unsigned kBits>
void fill(FlatCodes<kBits>& flat, const HuffmanCode& code) {
  std::size_t at = 0, place = 0;
  for (unsigned length = 1; length <= kBits; ++length) {
    const std::size_t run = std::size_t{1} << (kBits - length);
    for (unsigned i = 0; i < code.counts[length]; ++i, at += run, ++place) {
      std::memset(flat.length + at, static_cast<int>(length), run);
      std::memset(flat.symbol + at, code.symbols[place], run);
    }
  }
  std::memset(flat.length + at, 0, (std::size_t{1} << kBits) - at);
  std::memset(flat.symbol + at, 0, (std::size_t{1} << kBits) - at);
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

std::uint8_t byte_of(unsigned value) { return static_cast<std::uint8_t>(value); }

AcEntry long_entry(unsigned least_bits) {
  AcEntry entry{};
  entry.first_code = byte_of(least_bits);
  return entry;
}

// With the second symbol, if its code is among the index's bits and both fit into one look-up.
AcEntry entry_of(const FlatCodes<kAcIndexBits>& flat, std::size_t index) {
  const unsigned code = flat.length[index], symbol = flat.symbol[index], bits = symbol & 15U, step = ac_step(symbol);
  if (code == 0 || symbol == kZeroRun) return long_entry(code == 0 ? kAcIndexBits + 1 : code);
  const unsigned length = code + bits;
  AcEntry entry{.length = byte_of(length),
                .first_length = byte_of(length),
                .first_code = byte_of(code),
                .first_shift = byte_of(64 - bits),
                .second_code = byte_of(length),
                .second_shift = 64,
                .first_step = byte_of(step),
                .both_steps = byte_of(step)};
  if (step == kEndOfBlock || length >= kAcIndexBits) return entry;
  const std::size_t rest = (index << length) & ((std::size_t{1} << kAcIndexBits) - 1);
  const unsigned second_code = flat.length[rest], second = flat.symbol[rest], second_bits = second & 15U;
  const bool is_seen = second_code != 0 && second_code <= kAcIndexBits - length;
  const unsigned both = length + second_code + second_bits;
  if (!is_seen || second == kZeroRun || both > kAcLookupBits) return entry;
  entry.length = byte_of(both);
  entry.second_code = byte_of(length + second_code);
  entry.second_shift = byte_of(64 - second_bits);
  entry.both_steps = byte_of(step + ac_step(second));
  return entry;
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
  return symbols > 0 && (!is_dc || std::all_of(code.symbols.begin(), end, [](std::uint8_t symbol) { return symbol < 16; }));
}

void build(DcTable& table, const HuffmanCode& code) noexcept {
  FlatCodes<kDcIndexBits> flat;
  fill(flat, code);
  fill(table.long_codes, code);
  for (std::size_t i = 0; i < std::size(table.entries); ++i) {
    const std::uint32_t length = flat.length[i], bits = flat.symbol[i] & 15U;
    table.entries[i] = length == 0 ? 0 : (length + bits) | length << 8U | (63U - bits) << 16U;
  }
}

void build(AcTable& table, const HuffmanCode& code) noexcept {
  FlatCodes<kAcIndexBits> flat;
  fill(flat, code);
  fill(table.long_codes, code);
  for (std::size_t i = 0; i < std::size(table.entries); ++i) table.entries[i] = entry_of(flat, i);
}

}  // namespace penstock::image
