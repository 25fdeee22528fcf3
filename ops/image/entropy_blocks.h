// Blocks of a sequential scan (ITU-T T.81, F.2.2.1 and F.2.2.2), for kernels of each instruction set: all of it is
// inlined into them.
//
// Why no bits are missing. Before each block and each two look-ups of AC symbols the reader is refilled to 56 bits. A
// DC look-up takes at most 9 bits of code and 15 of value; an AC look-up at most 28 (kAcLookupBits), or 12 + 15 where
// values are skipped. So 24 + 28 and 28 + 28 fit. What is not in a table takes at most 16 + 15 bits and refills before
// and after. So `count` never falls below 0, and all bits that a value is made of are there.
//
// Why reading ends. Each symbol is at most 31 bits long and moves on by one place or more, and behind place 62 the
// block ends: 1984 bits at most, whatever the data, as a code that there is none of ends the block too. `next` is at
// most 7 bytes ahead of the bits used, and a refill reads 8 bytes: within kReadAhead.
//
// Why writing stays in the group. A symbol begins at place 62 or before and steps 128 at most; two together 16 + 128.
// So places are 206 at most, and kPlaces sends all above 63 to the row beyond the group's last.
#pragma once

#include <hwy/base.h>

#include <cstdint>

#include "ops/image/bit_reader.h"
#include "ops/image/entropy_kernels.h"
#include "ops/image/huffman.h"
#include "ops/image/jpeg_group.h"

namespace penstock::image {

inline constexpr std::uint64_t kLastPlace = 63;

// Where in its group the coefficient at a place in zigzag order lies (figure A.6), from the block's first one.
struct GroupPlaces {
  std::uint16_t of[256];
};

struct ZigzagStep {
  unsigned row = 0, column = 0;
};

// Along a diagonal, and by one along the border at its end.
constexpr ZigzagStep next_in_zigzag(ZigzagStep at) {
  const bool upwards = (at.row + at.column) % 2 == 0;
  if (upwards && at.column == 7) return {at.row + 1, at.column};
  if (!upwards && at.row == 7) return {at.row, at.column + 1};
  if (upwards) return {at.row - (at.row > 0 ? 1U : 0U), at.column + 1};
  return {at.row + 1, at.column - (at.column > 0 ? 1U : 0U)};
}

constexpr GroupPlaces group_places() {
  GroupPlaces places{};
  ZigzagStep at;
  for (unsigned place = 0; place < 256; ++place, at = next_in_zigzag(at)) {
    places.of[place] =
        static_cast<std::uint16_t>(place <= kLastPlace ? at.row * kGroupStride + at.column : 8 * kGroupStride);
  }
  return places;
}

inline constexpr GroupPlaces kPlaces = group_places();

// What makes bits that begin with 0 their value: 1 - 2^bits, by 64 - bits; no bits: 0.
struct NegativeOffsets {
  std::int16_t of[65];
};

constexpr NegativeOffsets negative_offsets() {
  NegativeOffsets offsets{};
  for (int bits = 1; bits <= 15; ++bits) offsets.of[64 - bits] = static_cast<std::int16_t>(1 - (1 << bits));
  return offsets;
}

inline constexpr NegativeOffsets kNegativeOffsets = negative_offsets();

// What was wrong in any block of a call.
struct Anomalies {
  std::uint64_t places = 0;  // all last places, or-ed: bit 6 where a run left its block or there was no code
  std::uint32_t range = 0;   // not 0 where a DC coefficient left its range

  HWY_INLINE bool none() const { return ((places >> 6U) & 1U) == 0 && range == 0; }
};

struct LongSymbol {
  unsigned length;  // of its code; 17: there is none
  unsigned symbol;
};

// The code at the top of `bits`, which has `from` bits or more.
HWY_INLINE LongSymbol find_long(const LongCodes& codes, std::uint64_t bits, unsigned from) {
  const auto next = static_cast<std::uint32_t>(bits >> 48U);
  unsigned length = from;
  while (next >= codes.end[length]) ++length;
  if (length == 17) return {17, 0};
  const std::int32_t place = static_cast<std::int32_t>(next >> (16U - length)) + codes.offset[length];
  return {length, codes.symbols[static_cast<std::uint32_t>(place) & 255U]};
}

// The entry that the table has no place for.
HWY_INLINE std::uint32_t read_long_dc(BitState& state, const DcTable& table, Anomalies& anomalies) {
  const LongSymbol found = find_long(table.long_codes, state.bits, kDcIndexBits + 1);
  if (found.length == 17) {
    anomalies.places |= kNoCode;
    return 16U | 16U << 8U | 63U << 16U;
  }
  return (found.length + found.symbol) | found.length << 8U | (63U - found.symbol) << 16U;
}

// DIFF of F.2.2.1. Needs 56 bits and leaves 28 or more.
HWY_INLINE std::int32_t read_difference(BitState& state, const DcTable& table, Anomalies& anomalies) {
  std::uint32_t entry = table.entries[state.bits >> (64U - kDcIndexBits)];
  const bool is_long = entry == 0;
  if (HWY_UNLIKELY(is_long)) entry = read_long_dc(state, table, anomalies);
  const std::int32_t value = value_of(state.bits << ((entry >> 8U) & 63U), entry >> 16U);
  drop(state, entry);
  if (HWY_UNLIKELY(is_long)) refill(state);
  return value;
}

// The DC coefficient, which is the next prediction.
HWY_INLINE std::int32_t read_dc(BitState& state, const DcTable& table, std::int32_t& prediction, Anomalies& anomalies) {
  const auto difference = static_cast<std::uint32_t>(read_difference(state, table, anomalies));
  const std::uint32_t value = static_cast<std::uint32_t>(prediction) + difference;
  anomalies.range |= static_cast<std::uint32_t>(value + 32767U > 65534U);
  prediction = static_cast<std::int32_t>(value);
  return prediction;
}

// A symbol that is in no table: ZRL, a long code, or none.
struct LongStep {
  unsigned length, code, bits, step;
};

HWY_INLINE LongStep find_long_step(const AcTable& table, std::uint64_t bits, unsigned from) {
  const LongSymbol found = find_long(table.long_codes, bits, from);
  if (found.length == 17) return {16, 16, 0, kNoCode};
  const unsigned value_bits = found.symbol & 15U;
  return {found.length + value_bits, found.length, value_bits, ac_step(found.symbol)};
}

// Whether the block goes on.
HWY_INLINE bool store_long_step(BitState& state, const AcTable& table, unsigned from, std::int16_t* block,
                                std::uint64_t& place) {
  refill(state);
  const LongStep found = find_long_step(table, state.bits, from);
  const std::int32_t value = value_of(state.bits << found.code, 63U - found.bits);
  place += found.step;
  block[kPlaces.of[place]] = static_cast<std::int16_t>(value);
  drop(state, found.length);
  refill(state);
  return place < kLastPlace;
}

// The bits at the top of `from` as a value, with `shift` = 64 - their number, 1 to 15; else anything.
HWY_INLINE std::int16_t ac_value(std::uint64_t from, std::uint64_t shift) {
  const std::uint64_t positive = from >> (shift & 63U);
  const std::uint64_t negative = positive + static_cast<std::uint64_t>(std::int64_t{kNegativeOffsets.of[shift]});
  return static_cast<std::int16_t>(static_cast<std::int64_t>(from) < 0 ? positive : negative);
}

// One look-up: whether the block goes on. `place` is that of the coefficient before, then that of the last one, which
// is written last: without a second symbol it is the first one's place.
HWY_INLINE bool store_step(BitState& state, const AcTable& table, std::int16_t* block, std::uint64_t& place) {
  const AcEntry& entry = table.entries[state.bits >> (64U - kAcIndexBits)];
  const std::uint64_t length = entry.length;
  if (HWY_UNLIKELY(length == 0)) return store_long_step(state, table, entry.last_code, block, place);
  const std::uint64_t first = place + entry.first_step;
  place += entry.all_steps;
  const std::int16_t last_value = ac_value(state.bits << (entry.last_code & 63U), entry.last_shift);
  block[kPlaces.of[first]] = entry.first_value;
  block[kPlaces.of[place]] = last_value;
  if (place < kLastPlace) {
    drop(state, length);
    return true;
  }
  const bool first_ends = first >= kLastPlace;  // then the second symbol is the next block's
  drop(state, first_ends ? entry.first_length : length);
  place = first_ends ? first : place;
  return false;
}

// The AC coefficients. Returns the last place: 128 if there is none but zeros.
HWY_INLINE std::uint64_t store_ac(BitState& state, const AcTable& table, std::int16_t* block) {
  std::uint64_t place = 0;
  if (!store_step(state, table, block, place)) return place;
  for (;;) {
    refill(state);
    if (!store_step(state, table, block, place)) return place;
    if (!store_step(state, table, block, place)) return place;
  }
}

// One symbol without its value: whether the block goes on.
HWY_INLINE bool skip_symbol(BitState& state, const AcTable& table, std::uint64_t& place) {
  refill(state);
  const LongStep found = find_long_step(table, state.bits, 1);
  place += found.step;
  drop(state, found.length);
  refill(state);
  return place < kLastPlace;
}

// One look-up without values. Takes nothing, and returns false, where the block may end among its symbols.
HWY_INLINE bool skip_step(BitState& state, const AcTable& table, std::uint64_t& place) {
  const std::uint64_t skip = table.skips[state.bits >> (64U - kSkipIndexBits)];
  const std::uint64_t next = place + (skip >> 6U);
  if (next >= kLastPlace) return false;
  drop(state, skip);
  place = next;
  return true;
}

// Whether the block ends with the next look-up's last symbol, and not with one before it.
HWY_INLINE bool skip_end(BitState& state, const AcTable& table, std::uint64_t place) {
  const std::uint64_t skip = table.skips[state.bits >> (64U - kSkipIndexBits)];
  if (place + (skip >> 6U) - kSkipEndOfBlock >= kLastPlace) return false;
  drop(state, skip);
  return true;
}

// Returns the last place, as store_ac() does where the data is wrong.
HWY_INLINE std::uint64_t skip_ac(BitState& state, const AcTable& table) {
  std::uint64_t place = 0;
  for (;;) {
    while (skip_step(state, table, place)) {
      refill(state);
      if (!skip_step(state, table, place)) break;
    }
    if (HWY_LIKELY(skip_end(state, table, place))) return kEndOfBlock;
    if (!skip_symbol(state, table, place)) return place;
  }
}

HWY_INLINE void store_block(BitState& state, std::int32_t* predictors, const BlockPlan& plan, std::size_t mcu,
                            Anomalies& anomalies) {
  const std::size_t number = mcu * static_cast<std::size_t>(plan.across) + static_cast<std::size_t>(plan.x);
  const std::size_t group = number / kBlocksInGroup;
  std::int16_t* const block = plan.groups + group * kGroupValues + number % kBlocksInGroup * 8;
  refill(state);
  block[0] = static_cast<std::int16_t>(read_dc(state, *plan.dc, predictors[plan.component], anomalies));
  const std::uint64_t last = store_ac(state, *plan.ac, block);
  plan.has_ac[group] = static_cast<std::uint8_t>(plan.has_ac[group] | static_cast<std::uint8_t>(last != kEndOfBlock));
  anomalies.places |= last;
}

HWY_INLINE bool store_all_mcus(BitState& state, std::int32_t* predictors, const BlockPlan* blocks,
                               std::size_t block_count, std::size_t first, std::size_t end) {
  BitState reader = state;  // in registers
  Anomalies anomalies;
  for (std::size_t mcu = first; mcu < end; ++mcu)
    for (std::size_t i = 0; i < block_count; ++i) store_block(reader, predictors, blocks[i], mcu, anomalies);
  state = reader;
  return anomalies.none();
}

HWY_INLINE bool skip_all_mcus(BitState& state, std::int32_t* predictors, const BlockPlan* blocks,
                              std::size_t block_count, std::size_t count) {
  BitState reader = state;
  Anomalies anomalies;
  for (std::size_t mcu = 0; mcu < count; ++mcu)
    for (std::size_t i = 0; i < block_count; ++i) {
      const BlockPlan& plan = blocks[i];
      refill(reader);
      read_dc(reader, *plan.dc, predictors[plan.component], anomalies);
      anomalies.places |= skip_ac(reader, *plan.ac);
    }
  state = reader;
  return anomalies.none();
}

}  // namespace penstock::image
