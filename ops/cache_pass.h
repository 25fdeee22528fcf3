// What caches do with the places of elements: those of one pass are given in others.
#pragma once

#include <penstock/op.h>
#include <penstock/random.h>

#include <cstdint>
#include <utility>

namespace penstock::ops {

// Where the input is repeated, its rounds differ by their passes. Behind the cache there is one for all of them.
inline void forget_round(Stamp& stamp) noexcept {
  if (stamp.pass != 0) stamp.sub = mix64(stamp.sub + mix64(stamp.pass)) | 1;  // 0 would be the element itself
  stamp.pass = 0;
}

inline Slot in_pass(Slot slot, const Stamp& pass) noexcept {
  slot.stamp.epoch = pass.epoch;
  slot.stamp.pass = pass.pass;
  slot.stamp.sequence = pass.sequence;
  return slot;
}

}  // namespace penstock::ops
