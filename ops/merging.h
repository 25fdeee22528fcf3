// What merging ops have in common.
#pragma once

#include <penstock/op.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace penstock::ops {

inline bool any_is(std::span<const Flow> inputs, std::int64_t cardinality) {
  return std::ranges::find(inputs, cardinality, &Flow::cardinality) != inputs.end();
}

// Of an op that gives what some inputs have, and nobody knows of which how much. As tf.data has it: endless where all
// are.
inline std::int64_t cardinality_of_mixed(std::span<const Flow> inputs) {
  const bool is_endless = std::ranges::all_of(
      inputs, [](std::int64_t each) { return each == INFINITE_CARDINALITY; }, &Flow::cardinality);
  return is_endless ? INFINITE_CARDINALITY : UNKNOWN_CARDINALITY;
}

// Of elements of any of the inputs.
inline std::int64_t leading_dimension_of_all(std::span<const Flow> inputs) {
  const std::int64_t first = inputs.front().leading_dimension;
  const bool is_one = std::ranges::all_of(
      inputs, [first](std::int64_t each) { return each == first; }, &Flow::leading_dimension);
  return is_one ? first : UNKNOWN_CARDINALITY;
}

}  // namespace penstock::ops
