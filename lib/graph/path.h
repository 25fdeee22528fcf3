// Path: which inputs lead from the end of a graph, as it is written, up to one of its ops. It tells two branches apart
// where their ops draw random numbers: by position alone the third op of each would draw the same ones.
//
//   Path end;                                  // a chain: through(0, ...) changes nothing
//   end.through(1, 7).random_key(3);           // op 3 of the second input of op 7
#pragma once

#include <penstock/random.h>

#include <cstdint>

namespace penstock::graph {

class Path {
 public:
  // Up through that input of the op at `position`. The first input goes on as a chain does, so a branch that is added
  // beside it changes nothing there.
  Path through(std::size_t input, int position) const noexcept {
    if (input == 0) return *this;
    Path path;
    path.branch_ = mix64(mix64(branch_ + static_cast<std::uint64_t>(position)) + input);
    return path;
  }
  // Of the op at `position` of this branch. In a chain its position: digests and checkpoints are made of that.
  std::uint64_t random_key(int position) const noexcept { return branch_ + static_cast<std::uint64_t>(position); }

 private:
  std::uint64_t branch_ = 0;
};

}  // namespace penstock::graph
