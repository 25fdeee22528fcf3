// Huffman codes of JPEG (ITU-T T.81, annexes C and F.2.2) and the tables by which they are decoded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock::image {

// As a DHT segment tells it (B.2.4.2).
struct HuffmanCode {
  std::array<std::uint8_t, 17> counts{};    // [n]: codes of n bits; [0] is not used
  std::array<std::uint8_t, 256> symbols{};  // in the order of their codes; behind the last one 0
  bool is_there = false;

  friend bool operator==(const HuffmanCode&, const HuffmanCode&) = default;
};

// Whether it is one: no more codes than there are of a length, and for DC differences no symbol above 15 (F.1.2.1).
bool is_code(const HuffmanCode& code, bool is_dc) noexcept;

// Codes longer than the index of a table: the canonical way, one length after the other (F.2.2.3). The next 16 bits are
// below end[n] if they begin with a code of at most n bits; end[17] is above all of them, and means that they begin
// with none.
struct LongCodes {
  std::uint32_t end[18];
  std::int32_t offset[17];  // from a code of n bits to the place of its symbol
  std::uint8_t symbols[256];
};

inline constexpr unsigned kDcIndexBits = 9;
inline constexpr unsigned kAcIndexBits = 10;

struct DcTable {
  // Bits of code and value together, bits of the code << 8, 63 - bits of the value << 16; 0: a longer code, or none.
  alignas(64) std::uint32_t entries[1U << kDcIndexBits];
  LongCodes long_codes;
};

// Bits that one look-up of AC symbols takes at most; what needs more has its second symbol left out.
inline constexpr unsigned kAcLookupBits = 28;

// Steps in zigzag order. End of block is a step beyond 128, a wrong run one to 64 .. 127: bit 6 of a place tells it.
inline constexpr unsigned kEndOfBlock = 128;
inline constexpr unsigned kNoCode = 64;

// One look-up gives up to two symbols, with all that is needed to take their values without a branch. A first symbol
// that has a second one behind it lies within the index, so that its value is known; the last one's value is taken out
// of the bits.
struct AcEntry {
  std::uint8_t length;        // of the symbols with their values, at most kAcLookupBits; 0: a longer code, ZRL, or none
  std::uint8_t first_length;  // of the first symbol with its value
  std::int16_t first_value;   // where there are two
  std::uint8_t last_code;     // bits before the last value; where length is 0, those that the code has at least
  std::uint8_t last_shift;    // 64 - bits of the last value
  std::uint8_t first_step;    // places in zigzag order to the first coefficient: 1 .. 16, or kEndOfBlock
  std::uint8_t all_steps;     // to the last one; without a second symbol the same
};
static_assert(sizeof(AcEntry) == 8);

// To get past symbols without their values: bits of as many symbols as the index shows whole codes of, with their
// values, and their steps << 6. An end of block, which is the last symbol then, has kSkipEndOfBlock steps; a longer
// code, or none, kSkipNothing.
using AcSkip = std::uint16_t;
inline constexpr unsigned kSkipIndexBits = 12;
inline constexpr unsigned kSkipEndOfBlock = 512;  // more than all steps before it: 16 for each bit of the index
inline constexpr unsigned kSkipNothing = 1023;    // more than an end of block and all steps before it
static_assert(kSkipIndexBits + 15 <= kAcLookupBits);
static_assert(kSkipEndOfBlock > 64 + 16 * kSkipIndexBits && kSkipNothing > kSkipEndOfBlock + 64 + 16 * kSkipIndexBits);

struct AcTable {
  alignas(64) AcEntry entries[1U << kAcIndexBits];
  AcSkip skips[1U << kSkipIndexBits];
  LongCodes long_codes;
};

// The step of a symbol RRRRSSSS (F.1.2.2.1). As in libjpeg all with SSSS = 0 but ZRL end the block.
constexpr unsigned ac_step(unsigned symbol) {
  const bool ends = (symbol & 15U) == 0 && symbol != 0xf0;
  return ends ? kEndOfBlock : (symbol >> 4U) + 1;
}

// Of what is_code() takes.
void build(DcTable& table, const HuffmanCode& code) noexcept;
void build(AcTable& table, const HuffmanCode& code) noexcept;

}  // namespace penstock::image
