#include "lib/runtime/memory_warning.h"

#include <algorithm>
#include <cstdint>

#include "lib/base/text.h"

namespace penstock::runtime {
namespace {

std::string text_of(std::int64_t bytes) { return format_bytes(static_cast<std::uint64_t>(bytes)); }

std::string place_of(const StageSnapshot& stage) { return stage.name + " (op " + std::to_string(stage.position) + ")"; }

// Not only what has come so far: an op that holds a quarter of its batch when this is said needs four times as much.
std::int64_t needs(const StageSnapshot& stage) { return std::max(stage.bytes_required, stage.bytes_required_in_all); }

}  // namespace

std::string memory_warning(const Snapshot& snapshot) {
  std::int64_t required = 0, in_all = 0;
  const StageSnapshot* largest = nullptr;
  for (const StageSnapshot& stage : snapshot.stages) {
    required += stage.bytes_required;
    in_all += needs(stage);
    if (largest == nullptr || needs(stage) > needs(*largest)) largest = &stage;
  }
  if (required <= snapshot.memory_limit) return {};
  return "the ops of a run must hold " + text_of(in_all) + " at once, " + text_of(needs(*largest)) + " of it " +
         place_of(*largest) + ", but its memory budget is " + text_of(snapshot.memory_limit) +
         ". It works, but reads nothing ahead: raise RunOptions::memory_bytes above that, or make batches or shuffle "
         "buffers smaller";
}

std::string unseen_memory_warning(const StageSnapshot& stage) {
  if (stage.unseen_type.empty()) return {};
  return place_of(stage) + " gives elements of type " + stage.unseen_type +
         ", and what memory they own cannot be seen: the memory budget counts only the type's own size. Say its "
         "members (ps::Fields), write a "
         "bytes_of for it (bytes.h), or give the op a bytes_hint";
}

}  // namespace penstock::runtime
