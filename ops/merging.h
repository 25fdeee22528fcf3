// What merging ops have in common.
#pragma once

#include <penstock/op.h>

#include <cstdint>
#include <span>

namespace penstock::ops {

inline bool any_is(std::span<const Flow> inputs, std::int64_t cardinality) {
  for (const Flow& input : inputs) {
    if (input.cardinality == cardinality) return true;
  }
  return false;
}

inline bool all_are(std::span<const Flow> inputs, std::int64_t cardinality) {
  for (const Flow& input : inputs) {
    if (input.cardinality != cardinality) return false;
  }
  return true;
}

// Of elements of any of the inputs.
inline std::int64_t leading_dimension_of_all(std::span<const Flow> inputs) {
  const std::int64_t first = inputs.front().leading_dimension;
  for (const Flow& input : inputs) {
    if (input.leading_dimension != first) return UNKNOWN_CARDINALITY;
  }
  return first;
}

}  // namespace penstock::ops
