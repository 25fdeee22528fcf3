#include "lib/runtime/memory_warning.h"

#include <cstdint>

#include "lib/core/text.h"

namespace penstock::runtime {
namespace {

std::string text_of(std::int64_t bytes) { return format_bytes(static_cast<std::uint64_t>(bytes)); }

}  // namespace

std::string memory_warning(const Snapshot& snapshot) {
  std::int64_t required = 0;
  const StageSnapshot* largest = nullptr;
  for (const StageSnapshot& stage : snapshot.stages) {
    required += stage.bytes_required;
    if (largest == nullptr || stage.bytes_required > largest->bytes_required) largest = &stage;
  }
  if (required <= snapshot.memory_limit) return {};
  return "the ops of a run must hold " + text_of(required) + " at once, " + text_of(largest->bytes_required) + " of it " +
         largest->name + " (op " + std::to_string(largest->position) + "), but its memory budget is " +
         text_of(snapshot.memory_limit) +
         ". It works, but reads nothing ahead: raise RunOptions::memory_bytes, or make batches or shuffle buffers smaller";
}

}  // namespace penstock::runtime
