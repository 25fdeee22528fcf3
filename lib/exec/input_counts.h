// InputCounts: how much of a stage's input a group stands for.
//
// What one group hands to another leaves its own counts: so sums over all groups change only where inputs come or
// leave.
#pragma once

#include <cstdint>

namespace penstock::exec {

struct InputCounts {
  std::int64_t admitted = 0;  // slots: what the window counts. Of a source: what it may make
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
