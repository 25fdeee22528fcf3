// Wish: where a tuner wants its knob to stand, and why.
#pragma once

#include <cstdint>

#include <penstock/decision.h>

namespace penstock::autotune {

struct Wish {
  std::int64_t to = 0;
  Reason reason = Reason::starved_consumer;
};

}  // namespace penstock::autotune
