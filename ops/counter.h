// counter: start, start + step, ... without an end. Documented at penstock::counter (sources.h).
#pragma once

#include <penstock/op.h>

#include "lib/graph/positions.h"

namespace penstock::ops {

class CounterSource final : public IndexedSource {
 public:
  CounterSource(std::int64_t start, std::int64_t step)
      : start_(static_cast<std::uint64_t>(start)), step_(static_cast<std::uint64_t>(step)) {}
  std::int64_t size() const override { return graph::kEndless; }
  Element at(std::int64_t index) const override {
    return Element(static_cast<std::int64_t>(start_ + static_cast<std::uint64_t>(index) * step_));
  }

 private:
  std::uint64_t start_, step_;  // unsigned, to wrap around
};

}  // namespace penstock::ops
