// FirstCuts: the first pass of each edge that its receiver did not want all of. A run that goes on at a save point
// begins in the middle of its first pass: what ends there before its place has lost something, unless it was cut.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace penstock::exec {

class FirstCuts {
 public:
  explicit FirstCuts(std::size_t stages) : first_(stages) {
    for (auto& sequence : first_) sequence = std::numeric_limits<std::uint64_t>::max();
  }

  // Before anything of the pass is left out. `from`: the stage whose results are not wanted, from the pass with this
  // sequence on.
  void note(std::size_t from, std::uint64_t sequence) noexcept {
    std::uint64_t before = first_[from];
    while (sequence < before && !first_[from].compare_exchange_weak(before, sequence)) {
    }
  }
  bool is_cut(std::size_t from, std::uint64_t sequence) const noexcept { return first_[from] <= sequence; }

 private:
  std::vector<std::atomic<std::uint64_t>> first_;  // by stage: its sequence
};

}  // namespace penstock::exec
