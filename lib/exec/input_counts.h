// InputCounts: how much of a stage's input a group stands for.
//
// When a group hands inputs to another group, its own counts fall by as much. So sums over all groups change only when
// inputs come or leave.
#pragma once

#include <cstdint>

namespace penstock::exec {

struct InputCounts {
  std::int64_t admitted = 0;  // slots, which the window counts. In a source: how many it may make
  std::int64_t bytes = 0;
  std::int64_t elements = 0;  // when the call began

  InputCounts& operator-=(const InputCounts& share) noexcept {
    admitted -= share.admitted;
    bytes -= share.bytes;
    elements -= share.elements;
    return *this;
  }
};

}  // namespace penstock::exec
