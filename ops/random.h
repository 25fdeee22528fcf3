// random: random integers without an end. Documented at penstock::random (sources.h).
#pragma once

#include <penstock/op.h>
#include <penstock/random.h>

#include "lib/graph/positions.h"

namespace penstock::ops {

class RandomSource final : public IndexedSource {
 public:
  explicit RandomSource(std::uint64_t seed)
      : key_{static_cast<std::uint32_t>(seed >> 32), static_cast<std::uint32_t>(seed)} {}
  std::int64_t size() const override { return graph::kEndless; }
  Element at(std::int64_t index) const override;

 private:
  PhiloxKey key_;
};

}  // namespace penstock::ops
