// What a checkpoint's fields may be, wherever they come from.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <penstock/checkpoint.h>

namespace penstock::runtime {

// How long the parts of a checkpoint may be, in bytes.
inline constexpr std::size_t kLongestPipeline = std::size_t{1} << 20;
inline constexpr std::size_t kLargestSavePoint = std::size_t{256} << 20;

// A field that cannot be. `byte`: where it stands in Checkpoint::to_bytes().
struct CheckpointFault {
  std::size_t byte;
  std::string text;
};

// The first one of a checkpoint; none: a run could have made it.
std::optional<CheckpointFault> fault_of(const Checkpoint& checkpoint);

// Error(invalid_argument) with that fault, for whoever filled in the fields.
void check_made_by_a_run(const Checkpoint& checkpoint);

}  // namespace penstock::runtime
