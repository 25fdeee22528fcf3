// Bits of unstuffed entropy-coded data (ITU-T T.81, F.2.2), for kernels of each instruction set: all of it is inlined
// into them, and with BMI2 each shift is one instruction.
//
// The next bit is the highest of `bits`. Below the `count` highest bits lie some that the next refill() brings again,
// equal.
//
//   refill(state);                              // count is 56 or more
//   std::uint64_t code = state.bits >> (64 - n);
//   drop(state, n);                             // n at most count
#pragma once

#include <hwy/base.h>

#include <cstdint>
#include <cstring>

#include "ops/image/entropy_kernels.h"

namespace penstock::image {

// Reads 8 bytes at `next`, whichever are needed. It moves on by the whole bytes that fit behind `count` bits, at most
// 7.
HWY_INLINE void refill(BitState& state) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  std::uint64_t next;
  std::memcpy(&next, state.next, sizeof next);
  state.bits |= __builtin_bswap64(next) >> state.count;
  state.next += (63 - state.count) >> 3U;
  state.count |= 56U;  // 56 + count % 8, which is what moving on by whole bytes gives
}

HWY_INLINE void drop(BitState& state, std::uint64_t length) {
  state.bits <<= length & 63U;
  state.count -= static_cast<std::uint32_t>(length & 63U);
}

// The value of `bits` bits at the top of `from` (EXTEND, F.2.2.1: those that begin with 0 are negative), where `shift`
// is 63 - bits.
HWY_INLINE std::int32_t value_of(std::uint64_t from, std::uint64_t shift) {
  const std::uint64_t negative = (from >> 63U) - 1;  // all ones where the first bit is 0
  const std::uint64_t size = ((from ^ negative) >> 1U) >> (shift & 63U);
  return static_cast<std::int32_t>((size ^ negative) - negative);
}

}  // namespace penstock::image
